#!/bin/sh
# A worker in shell whose samples take no time. What an arm answers is registered: `mean`, and `noise` around it.
#
# Files in the project change what it does, so that the registration stays the same:
# trouble  "<mean> <sample> <what>": the arm with this mean misbehaves so at this sample of its process
# pause    every sample takes so many seconds
# asked    every request for a sample is appended to it, after the arm's mean
# fill     so many bytes are written to the scratch folder
n=0
while read -r line; do
  case $line in
    '{"hello"'*) echo '{"hello":{"protocol":1,"systems":["demo"]}}' ;;
    '{"prepare"'*)
      mean=${line#*'"mean":'}; mean=${mean%%[!0-9]*}
      noise=${line#*'"noise":'}; noise=${noise%%[!0-9]*}
      scratch=${line#*'"scratch":"'}; scratch=${scratch%%'"'*}
      echoed=$mean
      random=$((mean * 7919 + 17))
      who='' at='' what=''
      if [ -f trouble ]; then read -r who at what < trouble; fi
      if [ "$who" != "$mean" ]; then at=''; fi
      case $at$what in
        0echo) echoed=$((mean + 1)) ;;
        0refuse) echo '{"error":{"message":"failed to write the trie: No space left on device (os error 28)"}}'; exit 1 ;;
      esac
      if [ -f fill ]; then
        read -r bytes < fill
        if ! head -c "$bytes" /dev/zero 2>/dev/null > "$scratch/data" || [ "$(wc -c < "$scratch/data")" -lt "$bytes" ]; then
          echo '{"error":{"message":"failed to write the data: No space left on device"}}'; exit 1
        fi
      fi
      # Terms and whatever else is registered are echoed as they came.
      params=${line#*'"params":{'}; params=${params%%'}'*}
      case $params in
        *'"terms":'*) terms=${params#*'"terms":'}; terms=",\"terms\":${terms%%[!0-9]*}" ;;
        *) terms='' ;;
      esac
      echo "{\"ready\":{\"effective\":{\"mean\":$echoed,\"noise\":$noise$terms}}}" ;;
    '{"sample"'*)
      if [ -f asked ]; then echo "$mean $line" >> asked; fi
      if [ -f pause ]; then read -r pause < pause; sleep "$pause"; fi
      digest=d
      if [ "$n" = "$at" ]; then
        case $what in
          die) echo 'opening the trie' >&2; echo 'thread panicked: index out of bounds' >&2; exit 101 ;;
          hang) echo 'waiting for a lock' >&2; sleep 600 ;;
          garbage) echo 'Segmentation fault'; continue ;;
          nan) echo '{"sample":{"values":{"time":NaN},"digest":"d"}}'; continue ;;
          digest) digest=other ;;
        esac
      fi
      random=$(((random * 1103515245 + 12345) % 2147483648))
      value=$((mean * 1000 + noise * (random / 65536 % 1000 - 500)))
      fraction=$((1000 + value % 1000))
      echo "{\"sample\":{\"values\":{\"time\":$((value / 1000)).${fraction#1}},\"digest\":\"$digest\"}}"
      n=$((n + 1)) ;;
    '{"finish"'*) echo '{"bye":{}}'; exit 0 ;;
  esac
done
