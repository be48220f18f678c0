// SPDX-License-Identifier: Apache-2.0
// Spellings of secrets as people's command lines have them, and what looks like them and is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/redact.h"

namespace plateau {
namespace {

using testing::HasSubstr;
using testing::Not;

// In each the secret is S3cr3tValue99.
const std::vector<std::string>& secrets() {
  static const std::vector<std::string> lines = {
      R"(curl -H Authorization:Bearer\ S3cr3tValue99 x)",
      "curl -H 'X-Auth-Token: S3cr3tValue99' x",
      "curl -H 'Cookie: session=S3cr3tValue99' x",
      "curl --cookie session=S3cr3tValue99 x",
      "curl -H 'PRIVATE-TOKEN: S3cr3tValue99' x",
      "curl -uadmin:S3cr3tValue99 x",
      "http --auth user:S3cr3tValue99 GET x",
      "http -a user:S3cr3tValue99 GET x",
      "wget --http-password=S3cr3tValue99 --http-user=u x",
      "mongodb+srv://app:S3cr3tValue99@cluster0.mongodb.net/x",
      "jdbc:postgresql://db/x?user=a&password=S3cr3tValue99",
      "jdbc:sqlserver://h:1433;databaseName=x;user=sa;password=S3cr3tValue99;encrypt=true",
      "Server=tcp:h;Database=d;User ID=sa;Password=S3cr3tValue99;",
      "Server=h;Uid=sa;Pwd=S3cr3tValue99;",
      "RABBITMQ_DEFAULT_PASS=S3cr3tValue99 x",
      "docker run --env=AWS_SECRET_ACCESS_KEY=S3cr3tValue99 pg",
      R"(export AWS_SECRET_ACCESS_KEY="S3cr3tValue99/abc+d")",
      "train.py wandb.api_key=S3cr3tValue99",
      "train.py +trainer.logger.api_key=S3cr3tValue99",
      R"(python -c "openai.api_key = 'S3cr3tValue99'")",
      R"x(python -c "os.environ.update({'HF_TOKEN': 'S3cr3tValue99'})")x",
      R"x(python -c "os.environ.update(HF_TOKEN='S3cr3tValue99')")x",
      R"(python -c "os.environ[\"HF_TOKEN\"] = \"S3cr3tValue99\"")",
      R"x(python -c "os.environ.setdefault('HF_TOKEN', 'S3cr3tValue99')")x",
      R"x(python -c "os.putenv('HF_TOKEN', 'S3cr3tValue99')")x",
      R"(--json {"auth":{"password":"S3cr3tValue99"}})",
      R"(--json '{"token": {"value": "S3cr3tValue99"}}')",
      "--set auth.password=S3cr3tValue99",
      "helm install --set-string secrets.apiKey=S3cr3tValue99 x",
      "kubectl create secret generic s --from-literal=password=S3cr3tValue99",
      "ssh-keygen -N S3cr3tValue99 -f key",
      "openssl enc -aes-256-cbc -pass pass:S3cr3tValue99",
      "openssl rsa -passin pass:S3cr3tValue99",
      "ansible-playbook -e ansible_password=S3cr3tValue99 x",
      R"(ansible-playbook --extra-vars "ansible_become_pass=S3cr3tValue99")",
      "ldapsearch -w S3cr3tValue99 -D cn=admin",
      "mount -t cifs -o username=u,password=S3cr3tValue99 //h/s /m",
      "mount -o user=u,pass=S3cr3tValue99,uid=1000",
      "sqlcmd -S h -U sa -P S3cr3tValue99",
      "bcp db.t out f -U sa -P S3cr3tValue99",
      "mongo -u admin -p S3cr3tValue99 db",
      "redis-cli --pass S3cr3tValue99",
      "valkey-cli -a S3cr3tValue99",
      "mysqldump -uroot -pS3cr3tValue99 db",
      "az login --service-principal -u id -p S3cr3tValue99 --tenant t",
      "git clone https://oauth2:S3cr3tValue99@gitlab.com/a/b",
      "pip install --extra-index-url https://S3cr3tValue99abcdefghi@h/simple x",
      "npm config set //registry/:_authToken=S3cr3tValue99",
      "https://h/?api_key=S3cr3tValue99&x=1",
      "https://h/x#access_token=S3cr3tValue99&token_type=bearer",
      "https://h/?x-amz-security-token=S3cr3tValue99&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F2026",
      "--apiKey:S3cr3tValue99",
      "/password:S3cr3tValue99",
      "-Dspring.datasource.password=S3cr3tValue99",
      "-Djavax.net.ssl.keyStorePassword=S3cr3tValue99",
      "java -Daws.secretKey=S3cr3tValue99 -jar x",
      "spark-submit --conf spark.hadoop.fs.s3a.secret.key=S3cr3tValue99",
      "--conf fs.s3a.access.key=S3cr3tValue99",
      "--passcode S3cr3tValue99",
      "--db_pw S3cr3tValue99",
      "DB_PW=S3cr3tValue99",
      "--pw S3cr3tValue99",
      "SECRET_KEY_BASE=S3cr3tValue99",
      "set -x HF_TOKEN S3cr3tValue99",
      "--user=me:S3cr3tValue99",
      "--basic-auth me:S3cr3tValue99",
      "--auth=me:S3cr3tValue99",
      "sqlite:///x.db?key=S3cr3tValue99abcdef",
      "sshpass -pS3cr3tValue99 ssh h",
      "SSHPASS=S3cr3tValue99 sshpass -e ssh h",
      "plink -pw S3cr3tValue99 h",
      "xfreerdp /u:me /p:S3cr3tValue99 /v:h",
      "su -c 'HF_TOKEN=S3cr3tValue99 python x' me",
      R"(bash -c 'curl -d "{\"password\":\"S3cr3tValue99\"}" h')",
      "curl -d 'user=me&password=S3cr3tValue99&x=1' h",
      "curl --data-urlencode password=S3cr3tValue99 h",
      "curl -d client_id=a&client_secret=S3cr3tValue99 h",
      "curl --cert c.pem:S3cr3tValue99 h",
      "curl -E c.pem:S3cr3tValue99 h"};
  return lines;
}

const std::vector<std::string>& secrets_of_tools() {
  static const std::vector<std::string> lines = {
      "curl -U me:S3cr3tValue99 -x p h",
      "wandb login --relogin --host=https://h S3cr3tValue99abcdefghijklmnopq",
      "cargo login S3cr3tValue99abcdefghij",
      "ngrok config add-authtoken S3cr3tValue99abcdef",
      "npm config set _auth S3cr3tValue99abcd==",
      "git clone https://S3cr3tValue99abcdefghij:x-oauth-basic@github.com/a/b",
      "https://hooks.slack.com/workflows/T000/A000/123/S3cr3tValue99",
      "mysqladmin -u root password S3cr3tValue99",
      "skopeo copy --src-creds me:S3cr3tValue99 docker://x docker://y",
      "skopeo copy --dest-creds=me:S3cr3tValue99 docker://x docker://y",
      "vault write auth/approle/login role_id=r secret_id=S3cr3tValue99abcdef",
      "ssh-keygen -p -P S3cr3tValue99 -N '' -f k",
      "smbclient //h/s -U me%S3cr3tValue99",
      "lftp -u me,S3cr3tValue99 h",
      "poetry publish -u u -p S3cr3tValue99",
      "tailscale up --authkey=S3cr3tValue99",
      "aws ssm put-parameter --name p --type SecureString --value S3cr3tValue99",
      "--passwort S3cr3tValue99",
      "--mot-de-passe S3cr3tValue99",
      "--dsn 'user:S3cr3tValue99@tcp(h:3306)/db'",
      "snmpwalk -v3 -A S3cr3tValue99 -X S3cr3tValue99 h",
      "nmcli dev wifi connect x password S3cr3tValue99",
      "keytool -storepass S3cr3tValue99 -keypass S3cr3tValue99"};
  return lines;
}

const std::vector<std::string>& harmless() {
  static const std::vector<std::string> lines = {
      "--two_pass greedy --forward-pass eager --render_pass shadow --graph_pass fuse",
      "--pass 2",
      "set token_dropout 0.1",
      "export TOKENIZERS_PARALLELISM false",
      "HF_TOKEN is not set",
      "WANDB_API_KEY not found",
      "missing HF_TOKEN, WANDB_API_KEY and OPENAI_API_KEY",
      "['token', 'text', 'image_key', 'caption']",
      R"(["token","text"])",
      "required = ['HF_TOKEN', 'WANDB_API_KEY']",
      "required=['HF_TOKEN','WANDB_API_KEY']",
      "os.getenv('HF_TOKEN', '')",
      "os.getenv('HF_TOKEN', None)",
      "python x.py -w 4 -N 8 -a 3 -P 22 -p 8080 -E pattern",
      "grep -E a:b file",
      "http 8080",
      "httpd -a x:y",
      "--auth=basic --auth none --auth-type oauth",
      "--cert /etc/ssl/c.pem",
      "--user root --user=root",
      "--user=1000:1000",
      "docker run -u 1000:1000 image:tag",
      "image@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      "--revision 3f786850e387550fdab836ed7e6dc881de23001b",
      "--run_id 0123456789abcdef0123456789abcdef --experiment 550e8400-e29b-41d4-a716-446655440000",
      "wandb/run-20261118_063108-ab12cd34/files",
      "meta-llama/Llama-3.1-8B-Instruct Qwen/Qwen2.5-VL-7B-Instruct mistralai/Mixtral-8x7B-v0.1",
      "gs://bucket/ckpt-0123456789abcdef0123456789abcdef/step_100",
      "s3://bucket/datasets/AbCd0123/part-00000-of-00512.parquet",
      "/data/models/hf_AbCdEf/snapshots/3f786850e387550fdab836ed7e6dc881de23001b",
      "--api_base http://h:8000/v1 --openai_api_base https://h/v1",
      "--master_addr 10.0.0.1 --master_port 29500 --rdzv_endpoint=host:29400",
      "tcp://10.0.0.1:29500 cuda:0 cpu:1 mps:0",
      "--key step --group_key run --cache_key v2 --key_base 10",
      "chown -R me:me /data",
      "kubectl get secret training",
      "--set secrets.backend=vault --set secrets.enabled=true",
      "--secrets.mount=/run/secrets",
      "module.layers.0:q_proj model.embed_tokens.weight:0",
      "--ckpt_path Users/Anna2/Projects/Model7/Checkpoints1",
      "--pw_filter 3 --pw-dim 16",
      "--passthrough x --pass_through y",
      "set -x; python train.py --lr 1e-3",
      "set HF_HOME /data/hf",
      "-DCMAKE_BUILD_TYPE=Release -Dkey.size=4",
      "https://api.telegram.org/ https://outlook.office.com/mail/inbox",
      "Q~ 8Q~ abc8Q~short",
      "vault login -method=ldap",
      "wandb login && python train.py",
      "cargo login --registry company && cargo build",
      "curl -U me -x p h",
      "mysqladmin status",
      "tar -c dir; snmpwalk h",
      "aws secretsmanager get-secret-value --secret-id training/db",
      "npm config set registry https://h/npm",
      "set -x group_key 12",
      "user@tcp(h:3306)/db tcp(h:1):x",
      "--bypass 3 --compass north",
      "mysql -p training",
      "curl -E a",
      "token: 12 of 512, key: value",
      R"({"pad_token": {"content": "<pad>", "lstrip": false}})",
      R"({"tokenizer": {"value": "x"}})",
      R"({"key": {"dtype": "bfloat16"}})",
      "the password is asked for",
      "sk-learn sk-image-0.21.0-cp311-manylinux",
      "AKIA is a name",
      "user%name",
      R"({"private_key_id":"0123456789abcdef0123456789abcdef01234567"})",
      "pypi-mirror-of-the-company",
      "login.py --steps 3",
      "--optimizer.pass 3",
      "--bos_token_id 1 --eos_token_id=2 --token_id 17",
      "--num_tokens_per_pass 3",
      "A_B C_D"};
  return lines;
}

TEST(RedactSpellings, EverySecretIsHidden) {
  for (const auto& lines : {secrets(), secrets_of_tools()}) {
    for (const std::string& line : lines) {
      const std::string clean = redacted(line);
      EXPECT_THAT(clean, Not(HasSubstr("S3cr3tValue99"))) << line;
      EXPECT_EQ(redacted(clean), clean) << "a second pass changes nothing";
    }
  }
}

TEST(RedactSpellings, WhatOnlyLooksLikeOneStays) {
  for (const std::string& line : harmless()) EXPECT_EQ(redacted(line), line);
}

TEST(RedactSpellings, KeysWithoutANameAreKnownByTheirShapeOrTheirAddress) {
  const std::string random = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6";
  const std::string amazon = std::string("AKIA") + "IOSFODNN7EXAMPLE";
  for (const std::string& line :
       {"hf_oauth_" + random, "abc8Q~" + random, amazon + ":" + random + "/+x",
        "https://api.telegram.org/bot123456789:" + random + "/sendMessage",
        "https://outlook.office.com/webhook/aaaa-bbbb@cccc/IncomingWebhook/" + random,
        "https://corp.webhook.office.com/webhookb2/aaaa-bbbb@cccc/IncomingWebhook/" + random,
        "wandb login " + random, "https://" + random + "@o1.ingest.sentry.io/1",
        "spark.hadoop.fs.azure.account.key.acc.dfs.core.windows.net=" + random,
        "train.py ++secrets.hf=" + random, "export HF_TOKEN " + random}) {
    const std::string clean = redacted(line);
    EXPECT_THAT(clean, Not(HasSubstr(random))) << line;
    EXPECT_EQ(redacted(clean), clean) << line;
  }
}

}  // namespace
}  // namespace plateau
