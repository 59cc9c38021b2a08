-- How the program of an arm was built, where it was built for the arm: commit, command, compiler and flags. Null: it was there.
alter table harness.run_arms add column build json;
