// SPDX-License-Identifier: Apache-2.0
// Loads a module of the page into Node, for tests that need no browser.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

export async function load(source) {
  const result = await build({
    entryPoints: [join(dirname(fileURLToPath(import.meta.url)), "..", "src", source)],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
  });
  const text = result.outputFiles[0].text;
  return import(`data:text/javascript;base64,${Buffer.from(text).toString("base64")}`);
}
