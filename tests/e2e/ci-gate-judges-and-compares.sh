#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The steps of the GitHub action as a script: a leak fails, a level job passes, and against a baseline it says what
# changed; JUnit, SARIF, Markdown and SVG are what their readers expect.
. "$(dirname "$0")/lib.sh"

gate=$SOURCE_DIR/integrations/github-action/plateau-gate.sh
export PLATEAU
flat_log 80 >flat.log
leak_log 80 >leak.log
flat_log 80 | awk '{print $1, $2, $3 + 240, $4}' >higher.log

# What the action hands over is what the script reads: every input has its variable, and the step is the script.
/usr/bin/python3 - "$SOURCE_DIR/integrations" <<'PY' || fail "action.yml or the template does not call the script as it is"
import pathlib, sys, yaml
root = pathlib.Path(sys.argv[1])
action = yaml.safe_load((root / "github-action/action.yml").read_text())
step, = action["runs"]["steps"]
names = {"INPUT_" + name.upper().replace("-", "_") for name in action["inputs"]}
assert set(step["env"]) == names, (set(step["env"]), names)
assert step["run"] == '"${GITHUB_ACTION_PATH}/plateau-gate.sh"' and action["runs"]["using"] == "composite"
script = (root / "github-action/plateau-gate.sh").read_text()
assert all(name in script for name in names), names
template = yaml.safe_load((root / "gitlab/plateau.gitlab-ci.yml").read_text())
assert names <= set(template[".plateau"]["variables"])
PY

# A level job passes and makes every file.
export GITHUB_OUTPUT=$PWD/outputs GITHUB_STEP_SUMMARY=$PWD/summary.md
run env INPUT_FILES=flat.log INPUT_OUTPUT=level bash "$gate"
expect_code 0
expect_in outputs "verdict=plateau"
expect_in summary.md "## PLATEAU: no leak"
for file in memory.xml memory.sarif memory.svg memory.md; do [ -s "level/$file" ] || fail "no $file"; done

# A leak fails, and says where it stands in every form.
run env INPUT_FILES=leak.log INPUT_OUTPUT=leak bash "$gate"
expect_code 1
/usr/bin/python3 - <<'PY' || fail "JUnit or SARIF does not say leak"
import json, xml.etree.ElementTree as tree
suite = tree.parse("leak/memory.xml").getroot().find("testsuite")
assert suite.get("failures") == "1" and suite.get("tests") == "1", suite.attrib
assert "LEAK" in suite.find("testcase/failure").text
result, = json.load(open("leak/memory.sarif"))["runs"][0]["results"]
assert result["level"] == "error" and result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "leak.log"
svg = tree.parse("leak/memory.svg").getroot()
assert svg.tag.endswith("svg")
PY

# The output is the job's verdict, not that of its last kind of memory, which is level.
: >outputs
run env INPUT_FILES="$SOURCE_DIR/corpus/dev/leak_arrays-4.csv.gz" INPUT_OUTPUT=kinds bash "$gate"
expect_code 1
[ "$(cat outputs)" = verdict=leak ] || fail "another verdict: $(cat outputs)"

# A command is run and watched; its failure is one.
# shellcheck disable=SC2016  # The shell that the gate starts counts.
run env INPUT_RUN='for i in 1 2 3; do echo "step $i"; sleep 0.1; done' INPUT_OUTPUT=ran INPUT_FAIL_ON_UNDECIDED=true bash "$gate"
expect_code 1
[ -s ran/memory.plateau ] || fail "no recording"
run env INPUT_RUN='exit 7' INPUT_FILES=flat.log INPUT_OUTPUT=broke bash "$gate"
[ "$code" -ne 0 ] || fail "a command that failed passed"

# Against a baseline: what changed, first and in figures; worse fails, the same does not.
run "$PLATEAU" compare --write-baseline base.csv.gz flat.log
expect_code 0
run "$PLATEAU" compare --baseline base.csv.gz flat.log
expect_code 0
expect_in out "memory per step unchanged, plateau unchanged, peak unchanged"
run "$PLATEAU" compare --baseline base.csv.gz higher.log
expect_in out "plateau +240 MB"
run env INPUT_FILES=leak.log INPUT_BASELINE=base.csv.gz INPUT_OUTPUT=worse bash "$gate"
expect_code 1
grep -q '^change=memory per step +100 MB' outputs || fail "the change is not told: $(cat outputs)"
expect_in worse/memory.md "| verdict | plateau | leak |"
# What is known of the job reaches the comparison too, and what only judge takes does not: 12 samples are level since
# the first pass over the data, which 663 examples tell.
head -12 "$RUN2" >short.log
run "$PLATEAU" compare --write-baseline known.csv.gz "$RUN2" --examples 663 --batch 8
run env INPUT_FILES=short.log INPUT_BASELINE=known.csv.gz INPUT_OUTPUT=known INPUT_OPTIONS='--examples 663 --batch=8 --limit 40GB --settle-by 100' \
  INPUT_EXPECT=plateau bash "$gate"
expect_code 0
expect_in known/memory.md "| verdict | plateau | plateau |"
run env INPUT_FILES=flat.log INPUT_BASELINE=none.csv.gz INPUT_OUTPUT=first bash "$gate"
expect_code 0
expect_in out "no baseline yet: none.csv.gz"

# Bad input is one line and exit code 2.
run "$PLATEAU" compare --baseline none.csv.gz flat.log
expect_code 2
expect_one_line err
expect_in err "--write-baseline makes a baseline"
run "$PLATEAU" compare --baseline base.csv.gz flat.log --vs leak.log
expect_code 2
run "$PLATEAU" judge flat.log --junit no/such/folder.xml
expect_code 2
expect_in err "no/such/folder.xml"
run env INPUT_OUTPUT=x bash "$gate"
expect_code 2
run "$PLATEAU" judge no-such.log flat.log --junit both.xml
expect_code 2
expect_in both.xml 'errors="1"'

# Names that are markup stay text.
cp leak.log '<b>&"x".log'
run "$PLATEAU" judge '<b>&"x".log' --junit odd.xml --sarif odd.sarif --summary odd.md
expect_code 1
/usr/bin/python3 - <<'PY' || fail "a name broke a file"
import json, xml.etree.ElementTree as tree
assert tree.parse("odd.xml").getroot().find("testsuite/testcase").get("name") == '<b>&"x".log'
json.load(open("odd.sarif"))
assert "<b>" not in open("odd.md").read().split("<details>")[0]
PY
