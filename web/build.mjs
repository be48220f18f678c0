// SPDX-License-Identifier: Apache-2.0
// Builds the page into one file, dist/page.html, which is committed and embedded in the binary, so
// that building Plateau needs no Node.
//
//   node build.mjs          writes dist/page.html
//   node build.mjs --check  says whether the committed file is what these sources give; exit 1 if not
//
// The file has two places that src/page/page_file.cc fills: <!--plateau:head--> and
// <!--plateau:body-->. Script and style are inline, and the content-security policy admits them by
// their hashes and nothing else. Same sources and same package-lock.json, same bytes.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { checkKeys, readGlossary } from "./glossary.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "dist", "page.html");

const glossary = readGlossary(readFileSync(join(here, "..", "docs", "report-fields.md"), "utf8"));
checkKeys(glossary, join(here, "src"));

// What the sources import as "plateau:glossary".
const glossaryPlugin = {
  name: "glossary",
  setup(builder) {
    builder.onResolve({ filter: /^plateau:glossary$/ }, ({ path }) => ({ path, namespace: "made" }));
    builder.onLoad({ filter: /.*/, namespace: "made" }, () => ({ contents: JSON.stringify(glossary), loader: "json" }));
  },
};

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, entry)],
    absWorkingDir: here,
    bundle: true,
    minify: true,
    write: false,
    charset: "ascii",
    format: "iife",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    plugins: [glossaryPlugin],
  });
  return result.outputFiles[0].text.trim();
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

function page(script, style) {
  const policy = [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "img-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<!-- Contains Preact and uPlot, both under the MIT licence: (c) Jason Miller; (c) Leon Sorokin. -->
<!--plateau:head-->
<style>${style}</style>
</head>
<body>
<div id="page"></div>
<!--plateau:body-->
<script>${script}</script>
</body>
</html>
`;
}

const style = await bundle("src/page.css");
const script = await bundle("src/main.tsx");
// Inside an element of its own the text ends at the first closing tag, whatever the language says.
if (/<\/(script|style)/i.test(script) || /<\/style/i.test(style)) {
  throw new Error("a closing tag inside the bundle would end it; write it as '<' + '/script'");
}
const made = page(script, style);

if (process.argv.includes("--check")) {
  const same = existsSync(target) && readFileSync(target, "utf8") === made;
  if (!same) console.error("web/dist/page.html is not what its sources give: run 'make page' and commit it");
  process.exit(same ? 0 : 1);
}
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, made);
console.log(`dist/page.html: ${made.length} bytes`);
