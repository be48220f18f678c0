// SPDX-License-Identifier: Apache-2.0
#include "probe/program.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "probe/proc_files.h"

namespace plateau {
namespace {

using Arguments = std::span<const std::string_view>;

constexpr size_t kMaxLabel = 60;

constexpr std::array<std::string_view, 10> kShells = {"sh",  "bash", "dash", "zsh",     "ksh",
                                                      "ash", "fish", "mksh", "busybox", "rbash"};

constexpr auto kLaunchers = std::to_array<std::string_view>(
    {"uv",        "uvx",        "poetry",  "pipenv",  "pdm",        "hatch",    "pixi",
     "conda",     "mamba",      "rye",     "tox",     "micromamba", "torchrun", "accelerate",
     "deepspeed", "horovodrun", "mpirun",  "mpiexec", "orterun",    "prterun",  "srun",
     "sudo",      "doas",       "nohup",   "env",     "timeout",    "time",     "nice",
     "ionice",    "chrt",       "taskset", "numactl", "stdbuf",     "setsid",   "script",
     "unbuffer",  "strace",     "ltrace",  "perf",    "nsys",       "ncu",      "memray",
     "flock",     "xvfb-run",   "make",    "just",    "xargs",      "parallel", "composer",
     "colossalai"});

constexpr auto kServices =
    std::to_array<std::string_view>({"sshd",       "sshd-session", "tmux",
                                     "screen",     "systemd",      "init",
                                     "login",      "su",           "cron",
                                     "crond",      "atd",          "anacron",
                                     "tini",       "dumb-init",    "docker-init",
                                     "catatonit",  "dockerd",      "containerd",
                                     "conmon",     "runc",         "supervisord",
                                     "runsvdir",   "runsv",        "s6-svscan",
                                     "slurmstepd", "slurmd",       "pbs_mom",
                                     "raylet",     "plateau",      "node",
                                     "code",       "zellij",       "mosh-server",
                                     "kitty",      "xterm",        "gnome-terminal-server",
                                     "konsole",    "alacritty",    "containerd-shim",
                                     "gunicorn",   "celery",       "airflow",
                                     "jupyter",    "inetd",        "xinetd",
                                     "launchd",    "dtach",        "abduco"});

constexpr auto kHelpers = std::to_array<std::string_view>(
    {"wandb",     "wandb-core", "wandb-xpu",  "tensorboard", "torch_shm_manager",
     "gpu_stats", "tee",        "sleep",      "cat",         "tail",
     "head",      "grep",       "sed",        "awk",         "gawk",
     "mawk",      "date",       "nvidia-smi", "rsync",       "ssh",
     "scp",       "git",        "gsutil",     "aws",         "gzip",
     "zstd",      "tar",        "df",         "du",          "ls",
     "ps",        "top",        "htop",       "watch",       "ninja",
     "ptxas",     "ffmpeg",     "nvcc",       "g++",         "gcc",
     "cc1plus",   "ldconfig"});

constexpr auto kLauncherModules = std::to_array<std::string_view>(
    {"torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch",
     "accelerate.commands.accelerate_cli", "deepspeed.launcher.launch", "deepspeed.launcher.runner",
     "torch.distributed.elastic.multiprocessing", "uv"});

template <size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view base_name(std::string_view path) {
  // A rewritten title: "sshd: user@pts/0", "ray::train step".
  path = path.substr(0, path.find(' '));
  if (path.ends_with(':')) path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_python(std::string_view name) {
  for (const std::string_view stem : {"python", "pypy"}) {
    if (!name.starts_with(stem)) continue;
    const std::string_view rest = name.substr(stem.size());
    return rest.find_first_not_of("0123456789.dmt-") == std::string_view::npos;
  }
  return false;
}

// Where the arguments of an interpreter stop being its own options.
struct Invocation {
  enum Form : uint8_t { bare, script, module, code };
  Form form = bare;
  std::string_view subject;  // Script path, module name or code.
};

Invocation python_invocation(Arguments arguments) {
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (!word.starts_with('-')) return {Invocation::script, word};
    if (word.starts_with("--")) {
      if (word == "--check-hash-based-pycs") ++i;
      continue;
    }
    // Options cluster: -u, -Im MODULE, -mMODULE, -Wignore, -X dev.
    const size_t stop = word.find_first_of("mcWX", 1);
    if (stop == std::string_view::npos) continue;
    std::string_view value = word.substr(stop + 1);
    if (value.empty() && i + 1 < arguments.size()) value = arguments[++i];
    if (word[stop] == 'm') return {Invocation::module, value};
    if (word[stop] == 'c') return {Invocation::code, value};
  }
  return {};
}

Invocation shell_invocation(Arguments arguments) {
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (word == "--init-file" || word == "--rcfile" || word == "-o" || word == "-O" ||
        word == "+o" || word == "+O") {
      ++i;
    } else if (word.starts_with("--") || word.starts_with('+')) {
      continue;
    } else if (word.starts_with('-')) {
      if (word.find('c') == std::string_view::npos) continue;
      return {Invocation::code, i + 1 < arguments.size() ? arguments[i + 1] : ""};
    } else {
      return {Invocation::script, word};
    }
  }
  return {};
}

bool mentions(Arguments arguments, std::string_view words) {
  return std::any_of(arguments.begin(), arguments.end(), [words](std::string_view argument) {
    return argument.find(words) != std::string_view::npos;
  });
}

ProgramKind python_kind(Arguments arguments, const Invocation& run) {
  if (mentions(arguments, "_inductor/compile_worker")) return ProgramKind::compile_worker;
  if (run.form == Invocation::code) {
    if (run.subject.find("multiprocessing.spawn import") != std::string_view::npos) {
      return ProgramKind::spawned_worker;
    }
    if (run.subject.find("multiprocessing.forkserver import") != std::string_view::npos) {
      return ProgramKind::fork_server;
    }
    if (run.subject.find("multiprocessing.resource_tracker import") != std::string_view::npos) {
      return ProgramKind::helper;
    }
  }
  if (run.form == Invocation::module) {
    if (among(kLauncherModules, run.subject)) return ProgramKind::launcher;
    const std::string_view top = run.subject.substr(0, run.subject.find('.'));
    if (top == "jupyter" || top == "jupyterlab" || top == "notebook") return ProgramKind::service;
    if (top == "wandb" || top == "tensorboard" || top == "tensorboard.main") {
      return ProgramKind::helper;
    }
  }
  if (run.form == Invocation::script) {
    const std::string_view script = base_name(run.subject);
    if (script.starts_with("jupyter") || among(kServices, script)) return ProgramKind::service;
    if (among(kLaunchers, script)) return ProgramKind::launcher;
    if (among(kHelpers, script)) return ProgramKind::helper;
    if (run.subject.find("/deepspeed/launcher/") != std::string_view::npos ||
        run.subject.ends_with("torch/distributed/run.py") ||
        run.subject.ends_with("torch/distributed/launch.py")) {
      return ProgramKind::launcher;
    }
  }
  return ProgramKind::python;
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kMaxLabel)) {
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  // Never end in the middle of a UTF-8 sequence.
  if (text.size() > kMaxLabel) {
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80) out.pop_back();
    if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xC0) out.pop_back();
  }
  return out;
}

// A package is run by its __main__.py, which is everybody's name; the directory is the package's.
std::string_view script_name(std::string_view path) {
  constexpr std::string_view kMain = "/__main__.py";
  if (path.size() > kMain.size() && path.ends_with(kMain)) path.remove_suffix(kMain.size());
  return base_name(path);
}

std::string label_of(std::string_view program, const Invocation& run) {
  std::string label(program);
  if (run.form == Invocation::script) label.append(" ").append(script_name(run.subject));
  if (run.form == Invocation::module) label.append(" -m ").append(run.subject);
  // Not what the code does, but for multiprocessing's own: "from multiprocessing.spawn import ...".
  constexpr std::string_view kPool = "from multiprocessing.";
  if (run.form == Invocation::code && run.subject.starts_with(kPool)) {
    const std::string_view module = run.subject.substr(std::string_view("from ").size());
    label.append(" ").append(module.substr(0, module.find(' ')));
  } else if (run.form == Invocation::code) {
    label.append(" -c");
  }
  return printable(label);
}

uint64_t hash_of(std::string_view bytes) {
  uint64_t hash = 1469598103934665603ULL;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash == 0 ? 1 : hash;
}

}  // namespace

SeenProgram describe_program(std::string_view cmdline, std::string_view comm) {
  SeenProgram program;
  const std::vector<std::string_view> arguments = parse_cmdline(cmdline);
  if (!arguments.empty()) program.command_hash = hash_of(cmdline);
  const bool login = !arguments.empty() && arguments[0].starts_with('-');
  std::string_view name = arguments.empty() ? comm : base_name(arguments[0].substr(login ? 1 : 0));
  if (name.empty()) name = comm;
  if (is_python(name)) {
    const Invocation run = python_invocation(arguments);
    program.python = true;
    program.kind = python_kind(arguments, run);
    program.label = program.kind == ProgramKind::launcher && run.form == Invocation::script
                        ? printable(base_name(run.subject))
                        : label_of("python", run);
    return program;
  }
  if (among(kShells, name)) {
    const Invocation run = shell_invocation(arguments);
    const bool interactive = login || run.form == Invocation::bare;
    program.kind = interactive ? ProgramKind::interactive_shell : ProgramKind::launcher;
    program.label = label_of(name, run);
    return program;
  }
  program.label = printable(name);
  if (among(kLaunchers, name)) program.kind = ProgramKind::launcher;
  if (among(kHelpers, name) || name.starts_with("wandb")) program.kind = ProgramKind::helper;
  if (among(kServices, name) || name.starts_with("jupyter") || name.starts_with("tmux") ||
      name.starts_with("containerd-shim") || name == "(sd-pam)") {
    program.kind = ProgramKind::service;
  }
  return program;
}

}  // namespace plateau
