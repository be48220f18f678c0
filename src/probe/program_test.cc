// SPDX-License-Identifier: Apache-2.0
#include "probe/program.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace plateau {
namespace {

SeenProgram of(std::initializer_list<std::string_view> arguments) {
  std::string cmdline;
  for (const std::string_view argument : arguments) cmdline.append(argument).push_back('\0');
  return describe_program(cmdline, "comm");
}

TEST(Program, PythonIsLabelledByWhatItRuns) {
  EXPECT_EQ(of({"/venv/bin/python3.11", "-u", "/home/x/train.py", "--lr", "1"}).label,
            "python train.py");
  EXPECT_EQ(of({"python", "-Xdev", "-W", "ignore", "-m", "pkg.train"}).label,
            "python -m pkg.train");
  EXPECT_EQ(of({"python3", "-c", "import x"}).label, "python -c");
  EXPECT_EQ(of({"python3", "train.py"}).kind, ProgramKind::python);
}

TEST(Program, LaunchersAreKnownByNameAndAsPythonScripts) {
  for (const SeenProgram& program :
       {of({"uv", "run", "train.py"}), of({"/usr/bin/python3", "/venv/bin/torchrun", "t.py"}),
        of({"python", "-m", "torch.distributed.run", "t.py"}),
        of({"python", "/venv/bin/accelerate", "launch"}), of({"sh", "-c", "python t.py"}),
        of({"bash", "-eu", "run.sh"}), of({"timeout", "60", "x"})}) {
    EXPECT_EQ(program.kind, ProgramKind::launcher) << program.label;
  }
}

TEST(Program, ShellsWithoutAScriptBelongToAPerson) {
  for (const SeenProgram& program :
       {of({"-bash"}), of({"bash"}), of({"zsh", "-i"}), of({"bash", "--init-file", "/x/shell.sh"}),
        of({"sh", "-l"})}) {
    EXPECT_EQ(program.kind, ProgramKind::interactive_shell) << program.label;
  }
}

TEST(Program, ServicesRunJobsAndBelongToNone) {
  for (const SeenProgram& program :
       {of({"sshd: user@pts/0"}), of({"tmux: server"}), of({"/lib/systemd/systemd", "--user"}),
        of({"python", "/venv/bin/jupyter-lab"}), of({"plateau", "watch"}),
        of({"/usr/bin/containerd-shim-runc-v2"})}) {
    EXPECT_EQ(program.kind, ProgramKind::service) << program.label;
  }
}

TEST(Program, WorkersOfMultiprocessingAndTorch) {
  EXPECT_EQ(
      of({"python", "-c", "from multiprocessing.spawn import spawn_main; spawn_main(1)"}).kind,
      ProgramKind::spawned_worker);
  EXPECT_EQ(of({"python", "-c", "from multiprocessing.forkserver import main"}).kind,
            ProgramKind::fork_server);
  EXPECT_EQ(of({"python", "-c", "from multiprocessing.resource_tracker import main;main(5)"}).kind,
            ProgramKind::helper);
  EXPECT_EQ(of({"python", "/v/torch/_inductor/compile_worker/__main__.py", "--n"}).kind,
            ProgramKind::compile_worker);
}

TEST(Program, PackageIsNamedByItsDirectoryNotByItsMain) {
  EXPECT_EQ(of({"python", "/v/torch/_inductor/compile_worker/__main__.py", "--n"}).label,
            "python compile_worker");
  EXPECT_EQ(of({"python", "__main__.py"}).label, "python __main__.py");
}

TEST(Program, MissingCommandLineFallsBackToTheShortName) {
  const SeenProgram program = describe_program("", "kworker/0");
  EXPECT_EQ(program.label, "kworker/0");
  EXPECT_EQ(program.command_hash, 0u);
}

TEST(Program, LabelsAreShortAndPrintable) {
  const SeenProgram program = of({"a\x1b[31m" + std::string(100, 'x')});
  EXPECT_LE(program.label.size(), 60u);
  EXPECT_EQ(program.label.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace plateau
