// SPDX-License-Identifier: Apache-2.0
// Made by build.mjs out of docs/report-fields.md.
declare module "plateau:glossary" {
  const groups: import("./glossary").GlossaryGroup[];
  export default groups;
}
