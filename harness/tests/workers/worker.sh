#!/bin/sh
# A worker in shell: answers every request, and misbehaves at the sample and in the way that its arguments say.
# usage: worker.sh [MISBEHAVIOUR [AT-SAMPLE [FILE]]]
what=${1:-}
at=${2:-0}
n=0
while read -r line; do
  case $line in
    '{"hello"'*)
      case $what in
        lack | lack-two | fit) echo '{"hello":{"protocol":1,"systems":["demo"],"checks":true}}' ;;
        *) echo '{"hello":{"protocol":1,"systems":["demo"]}}' ;;
      esac ;;
    '{"check"'*)
      if [ -n "${3:-}" ]; then echo "$$ $line" >> "$3"; fi
      case $what in
        lack) echo '{"error":{"message":"no list of words, install one"}}'; exit 1 ;;
        lack-two)
          case $line in
            *'"terms":2'*) echo '{"error":{"message":"no second list of words"}}'; exit 1 ;;
            *) echo '{"fit":{}}' ;;
          esac ;;
        *) echo '{"fit":{}}' ;;
      esac ;;
    '{"prepare"'*)
      case $what in
        echo) echo '{"ready":{"effective":{"mode":"other"}}}' ;;
        mute) echo '{"ready":{}}' ;;
        full) echo '{"error":{"message":"failed to write the trie: No space left on device (os error 28)"}}'; exit 1 ;;
        *)
          mode=${line#*'"mode":"'}
          echo "{\"ready\":{\"effective\":{\"mode\":\"${mode%%'"'*}\"}}}" ;;
      esac ;;
    '{"sample"'*)
      if [ "$n" -eq "$at" ]; then
        case $what in
          die) echo 'last words' >&2; exit 3 ;;
          kill) kill -9 $$ ;;
          hang) sleep 600 ;;
          close) exec >&-; sleep 600 ;;
          garbage) echo 'Segmentation fault'; continue ;;
          nan) echo '{"sample":{"values":{"time":NaN},"digest":"d"}}'; continue ;;
          null) echo '{"sample":{"values":{"time":null},"digest":"d"}}'; continue ;;
          huge) echo '{"sample":{"values":{"time":1e400},"digest":"d"}}'; continue ;;
          missing) echo '{"sample":{"values":{"tiem":1.0},"digest":"d"}}'; continue ;;
          wrong) echo '{"sample":{"values":{"time":1.0},"digest":"other"}}'; continue ;;
          flood) head -c 3000000 /dev/zero | tr '\0' 'x' >&2 ;;
          endless) head -c 3000000 /dev/zero | tr '\0' 'x'; continue ;;
          child) sleep 600 & echo $! > "$3"; sleep 600 ;;
        esac
      fi
      if [ "$what" = processor ]; then
        while read -r key value; do
          if [ "$key" = Cpus_allowed_list: ]; then echo "{\"sample\":{\"values\":{\"time\":$value},\"digest\":\"d\"}}"; fi
        done < /proc/$$/status
        continue
      fi
      if [ "$what" = environment ]; then
        echo "{\"sample\":{\"values\":{\"time\":$(printenv HARNESS_PADDING | wc -c)},\"digest\":\"d\"}}"
        continue
      fi
      n=$((n + 1))
      echo "{\"sample\":{\"values\":{\"time\":$n.5},\"digest\":\"d\"}}" ;;
    '{"finish"'*) echo '{"bye":{}}'; exit 0 ;;
  esac
done
