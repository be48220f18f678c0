// SPDX-License-Identifier: Apache-2.0
// node compare.mjs PACKAGES TOKENIZE [TOKENIZER.json]
//
// Encodes the same strings with Hugging Face's tokenizers (in PACKAGES/node_modules) and with ours,
// and compares ids; and, where a string has no special token, to which piece each token belongs,
// which shows a wrong cut that happens to give the same ids. Without a tokenizer.json, one is made.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { awkwardStrings } from './strings.mjs';

const COUNT = 6000;
const [packages, tokenize, given] = process.argv.slice(2);
const { Tokenizer } = createRequire(path.join(path.resolve(packages), 'package.json'))('tokenizers');

function ours(args, strings) {
  const input = strings.map((bytes) => bytes.toString('hex')).join('\n') + '\n';
  return execFileSync(tokenize, args, { input, maxBuffer: 1 << 30 }).toString();
}

async function theirs(tokenizer, strings, ask) {
  const answers = [];
  for (let i = 0; i < strings.length; i += 1000) {
    const texts = strings.slice(i, i + 1000).map((bytes) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
    const encodings = await tokenizer.encodeBatch(texts, { addSpecialTokens: false });
    answers.push(...encodings.map((encoding) => ask(encoding).join(' ')));
  }
  return answers;
}

async function differences(verb, file, tokenizer, strings, ask) {
  const mine = ours([verb, file], strings).split('\n');
  const wanted = await theirs(tokenizer, strings, ask);
  let wrong = 0;
  wanted.forEach((answer, i) => {
    if (answer === mine[i]) return;
    if (++wrong <= 10) console.log(`${verb} of ${JSON.stringify(strings[i].toString())}\n  theirs ${answer}\n  ours   ${mine[i]}`);
  });
  if (mine.length !== strings.length + 1) throw new Error(`${mine.length - 1} answers to ${strings.length} strings`);
  console.log(`${strings.length} strings, ${wanted.join(' ').split(' ').length} tokens, ${wrong} with other ${verb}`);
  return wrong;
}

const scratch = mkdtempSync(path.join(tmpdir(), 'tokenizer-oracle-'));
try {
  let file = given;
  if (!file) {
    file = path.join(scratch, 'tokenizer.json');
    writeFileSync(file, ours(['make', '1024'], awkwardStrings(1500, 7)));
  }
  const tokenizer = Tokenizer.fromFile(file);
  const strings = awkwardStrings(COUNT, 20);
  const plain = strings.filter((bytes) => !/<\S*>/s.test(bytes.toString()));
  let wrong = await differences('ids', file, tokenizer, strings, (encoding) => encoding.getIds());
  wrong += await differences('words', file, tokenizer, plain, (encoding) => encoding.getWordIds());
  process.exitCode = wrong === 0 ? 0 : 1;
} finally {
  rmSync(scratch, { recursive: true });
}
