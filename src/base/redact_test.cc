// SPDX-License-Identifier: Apache-2.0
#include "base/redact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace plateau {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kHuggingFace = "hf_AbCdEfGhIjKlMnOpQrStUvWxYz01234567";
constexpr const char* kJwt =
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N";

// Shapes as in life, made up; in two parts, so that no scanner takes them for real ones.
std::vector<std::string> shapes() {
  const std::string random = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6";
  return {kHuggingFace,
          kJwt,
          "sk-" + random + "q7R8s9T0u1V2w3X4",
          "sk-proj-" + random,
          "sk-ant-api03-" + random,
          "sk-or-v1-" + std::string(32, 'a') + std::string(32, '7'),
          "sk_live_" + random,
          "ghp_" + random + "a1B2",
          "gho_" + random + "a1B2",
          "github_pat_11AB_" + random,
          "glpat-" + random.substr(0, 20),
          "xoxb-1234567890-" + random,
          std::string("AKIA") + "IOSFODNN7EXAMPLE",
          std::string("ASIA") + "IOSFODNN7EXAMPLE",
          "AIza" + random + "abc",
          "npm_" + random + "abcd",
          "r8_" + random,
          "nvapi-" + random,
          "dckr_pat_" + random,
          "tskey-auth-" + random,
          "lsv2_pt_" + random,
          "dapi" + std::string(16, 'a') + std::string(16, '7'),
          "123456789:" + random + "abc"};
}

const std::vector<std::string>& lines_with_a_secret() {
  static const std::vector<std::string> lines = {
      "train.py --hf_token hunter2",
      "train.py --hf_token=hunter2",
      "train.py --hf-token 'hunter2'",
      "train.py --password hunter2",
      "--passwd=hunter2",
      "--db-password 'hunter2 hunter2'",
      "--api_key hunter2",
      "--api-key=hunter2",
      "--apikey hunter2",
      "--openai_api_key=hunter2",
      "--secret hunter2",
      "--client_secret=hunter2",
      "--aws-secret-access-key hunter2",
      "env PGPASSWORD=hunter2 psql",
      "HF_TOKEN=hunter2 python3 x.py",
      "env WANDB_API_KEY=hunter2",
      "MYSQL_PWD=hunter2",
      "--token hunter2",
      "--auth_token 123456789",
      "--credential hunter2",
      "redis-server --requirepass hunter2",
      "redis-server --masterauth hunter2",
      "redis-cli -h db -a hunter2",
      "sshpass -p hunter2 ssh host",
      "mysql -uroot -phunter2 db",
      "curl -u me:hunter2 http://h",
      "curl --user me:hunter2 http://h",
      "curl -H 'Authorization: Bearer hunter2' x",
      "curl -H 'Authorization: Basic hunter2' x",
      "curl -H 'x-api-key: hunter2' x",
      "curl -H \"Authorization: token hunter2\" x",
      "sh -c 'python train.py --password hunter2 --steps 3'",
      "sh -c 'export HF_TOKEN=hunter2; python3 train.py'",
      "--config '{\"api_key\": \"hunter2\", \"steps\": 3}'",
      "--config {\"api_key\":\"hunter2\"}",
      "password: hunter2",
      "password = hunter2",
      "secret=hunter2",
      "https://h/x?access_token=hunter2&steps=3",
      "https://h/x?a=1&sig=hunter2#top",
      "https://h/x?X-Amz-Signature=hunter2",
      "AccountName=a;AccountKey=hunter2hunter2AA==",
      "hfToken=hunter2",
      "--hubToken hunter2",
      "--pass hunter2",
      "--smtp_pass hunter2",
      "postgres://me:hunter2@db:5432/x",
      "redis://:hunter2@cache/0",
      "s3://k:hunter2@h/b",
      "docker run -e HF_TOKEN=hunter2 image",
      "--password=a,hunter2",
      "'--password=a&hunter2'",
      "--password 'it'\\''s hunter2'"};
  return lines;
}

const std::vector<std::string>& secrets_of_programs_and_scripts() {
  static const std::vector<std::string> lines = {
      "curl -HAuthorization:Bearer\\ hunter2 x",
      "curl --oauth2-bearer hunter2 x",
      "curl -b 'sessionid=hunter2' x",
      "--bearer=hunter2",
      "x \"{\\\"password\\\":\\\"hunter2\\\",\\\"steps\\\":3}\"",
      "x \"{\\\"password\\\": \\\"hunter2\\\"}\"",
      "python -c \"os.environ['HF_TOKEN']='hunter2'\"",
      "python -c \"os.environ['HF_TOKEN'] = 'hunter2'\"",
      "python -c \"login(password = 'hunter2')\"",
      R"(python -c 'os.environ['\''HF_TOKEN'\'']='\''hunter2'\''')",
      R"(python -c 'import os; os.environ['\''HF_TOKEN'\''] = '\''hunter2'\''')",
      R"(x '{'\''password'\'':'\''hunter2'\'','\''n'\'':3}')",
      "https://h/?auth=hunter2&n=3",
      "https://h/?pwd=hunter2",
      "GITHUB_PAT=hunter2 x",
      "wandb login hunter2hunter2hunter2",
      "docker login -u me -p hunter2 registry",
      "unzip -P hunter2 data.zip",
      "7z x -phunter2 data.7z"};
  return lines;
}

TEST(Redact, HidesWhatFollowsASecretName) {
  std::vector<std::string> lines = lines_with_a_secret();
  const std::vector<std::string>& more = secrets_of_programs_and_scripts();
  lines.insert(lines.end(), more.begin(), more.end());
  for (const std::string& line : lines) {
    const std::string clean = redacted(line);
    EXPECT_THAT(clean, Not(HasSubstr("hunter2"))) << line;
    EXPECT_THAT(clean, Not(HasSubstr("123456789"))) << line;
    EXPECT_THAT(clean, HasSubstr(kRedacted)) << line;
    EXPECT_EQ(redacted(clean), clean) << "a second pass changes nothing";
  }
}

TEST(Redact, HidesKnownShapesWhereverTheyStand) {
  for (const std::string& secret : shapes()) {
    for (const std::string& line :
         {secret, "login.py " + secret, "--x=" + secret + " --steps 3", "'a " + secret + " b'",
          "https://" + secret + "@github.com/a/b", "{\"t\":\"" + secret + "\"}",
          "note: the key " + secret + ", as before"}) {
      const std::string clean = redacted(line);
      EXPECT_THAT(clean, Not(HasSubstr(secret.substr(secret.size() / 2)))) << line;
      EXPECT_EQ(redacted(clean), clean) << line;
    }
  }
}

TEST(Redact, KeepsWhatTellsAboutTheJob) {
  for (const std::string line :
       {"python train.py --tokenizer meta-llama/Llama-3.1-8B --max_tokens 512",
        "--max_new_tokens=512 --num_tokens 100000000 --tokens 2048",
        "--max_token 4096",
        "--key-bindings vim --keymap us --keyboard de",
        "--token_dropout 0.1 --token-type-ids",
        "--pad_token '<pad>' --eos_token '</s>' --mask_token '[MASK]'",
        "--image_token '<image>'",
        "--placeholder_token '<cat>' --initializer_token toy",
        "--tokenizer_name gpt2",
        "--text_key content --image_key image --prompt_key prompt",
        "sort --key=2 --field 3",
        "--sort_key created_at",
        "--primary-key id",
        "--password-file /run/secrets/db",
        "--use_auth_token True",
        "--use_auth_token=false",
        "--token $HF_TOKEN",
        "--api_key ${KEY}",
        "--secret_name training",
        "--credentials /home/a/key.json",
        "--ssl_key /etc/ssl/key.pem",
        "--two-pass 2 --n_pass 3 --bypass cache",
        "--passes 4",
        "redis-server --save ''",
        "git checkout 3f786850e387550fdab836ed7e6dc881de23001b",
        "PWD=/home/a OLDPWD=/tmp python x",
        "--file_pat '*.jsonl' --pat train",
        "a\\ file --steps 3",
        R"(python -c 'print('\''don'\''+'\''t'\'', 3)')",
        "wandb login --relogin",
        "curl -k https://h",
        "-----BEGIN PUBLIC KEY----- MIIB -----END PUBLIC KEY-----",
        "docker run -u 1000:1000 -p 8080:80 image",
        "ssh -p 2222 host",
        "mysqldump -P 3306 db",
        "https://h:8080/x?steps=3&lr=1e-3",
        "hdfs://name:9000/data",
        "user@host:/data",
        "python -m torch.distributed.run --nproc_per_node=8 train.py",
        "sk-learn-image-classifier-v2",
        "hf_transfer hf_hub_download hf_model_name_that_is_quite_long",
        "don't --steps 3 isn't",
        "the bearer of news",
        "epoch: 3, step: 40, key: value",
        "author: somebody",
        "--monkey patch --turkey 3",
        "tokens per second: 512",
        "cache-key misses",
        "/data/sk-/x /tokens/a.json",
        "checkpoint-ghp",
        "\xff\xfe raw bytes \x01",
        "",
        "   "}) {
    EXPECT_EQ(redacted(line), line);
  }
}

TEST(Redact, LeavesTheRestOfTheLineAsItIs) {
  EXPECT_EQ(redacted("train.py --hf_token hf_x1 --max_tokens 512 s3://u:pw@h/b  'a b'"),
            "train.py --hf_token [redacted] --max_tokens 512 s3://u:[redacted]@h/b  'a b'");
  EXPECT_EQ(redacted("--config '{\"api_key\": \"abc\", \"steps\": 3}'"),
            "--config '{\"api_key\": [redacted], \"steps\": 3}'");
  EXPECT_EQ(redacted("curl 'https://h/?token=a1&n=2'"), "curl 'https://h/?token=[redacted]&n=2'");
}

TEST(Redact, HidesPrivateKeysWithTheirBlanksAndLines) {
  const std::string kind = "OPENSSH PRIVATE";
  const std::string begin = "-----BEGIN " + kind + " KEY-----";
  const std::string end = "-----END " + kind + " KEY-----";
  EXPECT_EQ(redacted("x --key '" + begin + "\nb3Blbn\nNzaC1r\n" + end + "' --steps 3"),
            "x --key '[redacted]' --steps 3");
  EXPECT_EQ(redacted("echo " + begin + "b3Blbn" + end + " " + begin + "cut off"),
            "echo [redacted] [redacted]");
}

TEST(Redact, AFlagWithoutAValueDoesNotEatTheNextOption) {
  EXPECT_EQ(redacted("--password --steps 3"), "--password --steps 3");
}

TEST(Redact, AnyBytesAreTakenAndASecondPassChangesNothing) {
  std::mt19937 random(11);
  const std::string letters = "ab=:'\"\\ -_/@?&{}[],token password key hf_sk-\xc3\xff\n";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    const size_t size = random() % 40;
    for (size_t i = 0; i < size; ++i) text += letters[random() % letters.size()];
    if (random() % 3 == 0) text += " --password " + std::string(random() % 4, '\'') + "x y";
    const std::string once = redacted(text);
    ASSERT_EQ(redacted(once), once) << text;
  }
}

}  // namespace
}  // namespace plateau
