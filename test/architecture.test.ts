import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkArchitecture } from "./support/architecture.ts";

const root = join(import.meta.dirname, "..");

describe("Architecture", () => {
  it("The sources keep to the import table of ARCHITECTURE.md", () => {
    expect(checkArchitecture(root)).toEqual([]);
  });

  it.each([
    [
      "an import against the table",
      { "src/domain/planted.ts": 'import "../wire/framing/eventstream-format.ts";\n' },
      "src/domain/planted.ts imports src/wire/framing/eventstream-format.ts, which src/domain may not",
    ],
    [
      "a sibling dialect",
      { "src/wire/responses/planted.ts": 'export { parse } from "../converse/parse.ts";\n' },
      "src/wire/responses/planted.ts imports src/wire/converse/parse.ts, which src/wire/responses may not",
    ],
    [
      "a lazy import",
      {
        "src/domain/planted.ts":
          'export const load = () => import("../wire/framing/eventstream-format.ts");\n',
      },
      "src/domain/planted.ts imports src/wire/framing/eventstream-format.ts, which src/domain may not",
    ],
    [
      "a package that is not in the row",
      { "src/wire/converse/planted.ts": 'import { z } from "zod";\nexport const x = z;\n' },
      'src/wire/converse/planted.ts uses the package "zod", which src/wire/converse may not',
    ],
    [
      "a node module in a browser-safe folder",
      {
        "src/domain/planted.ts":
          'import { readFileSync } from "node:fs";\nexport const x = readFileSync;\n',
      },
      'src/domain/planted.ts uses the package "node", which src/domain may not',
    ],
    [
      "a cycle",
      {
        "src/domain/one.ts": 'import { two } from "./two.ts";\nexport const one = () => two;\n',
        "src/domain/two.ts": 'import { one } from "./one.ts";\nexport const two = () => one;\n',
      },
      "src/domain/one.ts → src/domain/two.ts → src/domain/one.ts is a cycle",
    ],
    [
      "a vendor term outside src/wire",
      { "src/domain/planted.ts": "export interface Planted { readonly toolUseId: string }\n" },
      'src/domain/planted.ts says "toolUseId", which stays in src/wire and src/emulator',
    ],
    [
      "the clock outside src/platform",
      { "src/domain/planted.ts": "export const now = () => Date.now();\n" },
      'src/domain/planted.ts says "Date.now", which stays in src/platform',
    ],
    [
      "a slice that imports a later slice",
      { "src/session/tools/planted.ts": 'import "../turn/turn-state.ts";\n' },
      "src/session/tools/planted.ts imports src/session/turn/turn-state.ts, which src/session/tools may not",
    ],
    [
      "a slice that imports a slice of the same rank",
      { "src/session/clients/planted.ts": 'import "../approvals/grants.ts";\n' },
      "src/session/clients/planted.ts imports src/session/approvals/grants.ts, which src/session/clients may not",
    ],
    [
      "a core file that imports the runtime",
      { "src/session/planted.ts": 'import "./runtime/driver.ts";\n' },
      "src/session/planted.ts imports src/session/runtime/driver.ts, which src/session may not",
    ],
    [
      "a folder that the table does not name",
      { "src/planted/file.ts": "export const x = 1;\n" },
      "src/planted/file.ts is in no folder of ARCHITECTURE.md",
    ],
  ])("The check reports %s", (_, files, problem) => {
    expect(checkArchitecture(root, files)).toEqual([problem]);
  });
});
