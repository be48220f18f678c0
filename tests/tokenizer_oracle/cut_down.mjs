// SPDX-License-Identifier: Apache-2.0
// node cut_down.mjs TOKENIZER.json > trainer/testdata/text/qwen2.5-cut-down.json
//
// Leaves of Qwen2.5's tokenizer.json what the texts below can reach: the bytes, and every merge
// whose result occurs in one of them. Ids and the order of merges stay, so that these texts, and all
// that is made of their parts, get the genuine ids.
import { readFileSync } from 'node:fs';

const texts = [
  'Hello, world!',
  '12345 3.14',
  '  a\n\n  b \r\n\t c   ',
  "I'M you're we'LL 'S I'm",
  'a\u0085b',
  'é',
  '{"Marque": {"contents": null, "confidence_score": null}}',
  '{"note": "The number is not required, type unknown", "format": "A4"}',
  '{"city": "Paris", "open": true, "rooms": [1, 23], "wifi": null}',
  '{"city": "Paris"}',
  'system\nYou are a helpful assistant.\nuser\nassistant\n\n',
  'What is in the picture? A red square and a blue circle. Which is larger? The square.',
  '<|im_start|>user <|im_end|> <|image_pad|> <|vision_start|> <|vision_end|>',
  '```json\n```',
];

const printable = (b) => (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
const alphabet = [];
for (let b = 0, next = 0x100; b < 256; ++b) alphabet.push(String.fromCodePoint(printable(b) ? b : next++));
const haystack = texts.map((text) => [...Buffer.from(text)].map((b) => alphabet[b]).join('')).join(' ');

const tokenizer = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const vocab = tokenizer.model.vocab;
const merges = tokenizer.model.merges.filter((merge) => haystack.includes(merge.replace(' ', '')));
const kept = new Set(alphabet);
for (const merge of merges) [...merge.split(' '), merge.replace(' ', '')].forEach((token) => kept.add(token));
tokenizer.model.vocab = Object.fromEntries(Object.entries(vocab).filter(([token]) => kept.has(token)));
tokenizer.model.merges = merges;
process.stdout.write(JSON.stringify(tokenizer) + '\n');
