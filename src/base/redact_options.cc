// SPDX-License-Identifier: Apache-2.0
// Options of programs that are known, whose value is a secret though their name does not say so.
#include <algorithm>
#include <array>
#include <iterator>

#include "base/redact.h"

namespace plateau {
namespace {

struct KnownOption {
  std::string_view program;
  std::string_view option;
  OptionValue value = OptionValue::secret;
  bool glued = false;  // The value may also follow in the same word.
};
// "login" is a word of docker, podman and az. A star: mysqldump, 7za, ldapmodify too.
constexpr auto kKnownOptions = std::to_array<KnownOption>({
    {"7z*", "-p", OptionValue::secret, true},
    {"bcp", "-P"},
    {"beeline", "-p"},
    {"cqlsh", "-p"},
    {"curl", "-E", OptionValue::user_and_secret, true},
    {"curl", "-U", OptionValue::user_and_secret, true},
    {"curl", "-b"},
    {"curl", "-u", OptionValue::user_and_secret, true},
    {"cypher-shell", "-p"},
    {"http", "-a", OptionValue::user_and_secret, true},
    {"https", "-a", OptionValue::user_and_secret, true},
    {"ipmitool", "-P"},
    {"keydb-cli", "-a"},
    {"ldap*", "-w", OptionValue::secret, true},
    {"lftp", "-u"},
    {"login", "-p"},
    {"mariadb*", "-p", OptionValue::secret, true},
    {"mongo*", "-p", OptionValue::secret, true},
    {"mosquitto*", "-P"},
    {"mysql*", "-p", OptionValue::secret, true},
    {"mysqladmin", "password"},
    {"nmcli", "password"},
    {"openssl", "-k"},
    {"plink", "-pw"},
    {"poetry", "-p"},
    {"pscp", "-pw"},
    {"put-parameter", "--value"},
    {"redis-cli", "-a"},
    {"smbclient", "-U", OptionValue::secret, true},
    {"snmp*", "-A"},
    {"snmp*", "-X"},
    {"snmp*", "-c"},
    {"sqlcmd", "-P", OptionValue::secret, true},
    {"ssh-keygen", "-N"},
    {"ssh-keygen", "-P"},
    {"sshpass", "-p", OptionValue::secret, true},
    {"twine", "-p"},
    {"unzip", "-P"},
    {"valkey-cli", "-a"},
    {"xfreerdp", "/p:", OptionValue::secret, true},
    {"zip", "-P"},
});
// Whoever's they are.
constexpr auto kUserOptions = std::to_array<std::string_view>(
    {"-u", "--user", "--proxy-user", "--auth", "--basic-auth", "--cert", "--proxy-cert", "--creds",
     "--src-creds", "--dest-creds"});
// The next word that is no option may be a key.
constexpr auto kLogins =
    std::to_array<std::string_view>({"wandb", "vault", "comet", "swanlab", "cargo"});
constexpr auto kKeyCommands = std::to_array<std::string_view>({"authtoken", "add-authtoken"});

bool is_of(const KnownOption& known, std::string_view program) {
  const bool family = known.program.ends_with('*');
  return family ? program.starts_with(known.program.substr(0, known.program.size() - 1))
                : program == known.program;
}

}  // namespace

bool has_secret_options(std::string_view program) {
  return std::ranges::any_of(kKnownOptions,
                             [&](const auto& each) { return is_of(each, program); }) ||
         std::ranges::find(kLogins, program) != kLogins.end();
}

OptionValue option_value(std::string_view program, std::string_view word) {
  const bool logs_in = (word == "login" && std::ranges::find(kLogins, program) != kLogins.end()) ||
                       std::ranges::find(kKeyCommands, word) != kKeyCommands.end();
  if (logs_in) return OptionValue::key;
  const auto known = std::ranges::find_if(kKnownOptions, [&](const KnownOption& each) {
    return each.option == word && !each.option.ends_with(':') && is_of(each, program);
  });
  // mysql -p alone asks for the password: the next word is a database.
  const bool asks =
      word == "-p" && (program.starts_with("mysql") || program.starts_with("mariadb"));
  if (known != kKnownOptions.end() && !asks) return known->value;
  const bool user = std::ranges::find(kUserOptions, word) != kUserOptions.end();
  return user ? OptionValue::user_and_secret : OptionValue::none;
}

GluedOption glued_option(std::string_view program, std::string_view word) {
  const auto known = std::ranges::find_if(kKnownOptions, [&](const KnownOption& each) {
    return each.glued && word.size() > each.option.size() && word.starts_with(each.option) &&
           is_of(each, program);
  });
  if (known != kKnownOptions.end()) return {known->value, known->option.size()};
  const size_t equals = word.find('=');
  const bool user = equals != std::string_view::npos &&
                    std::ranges::find(kUserOptions, word.substr(0, equals)) != kUserOptions.end();
  return user ? GluedOption{OptionValue::user_and_secret, equals + 1} : GluedOption{};
}

}  // namespace plateau
