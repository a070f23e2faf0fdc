import type { Fields, TextsRule } from "./fields.ts";

export function readHarnessId(fields: Fields): string {
  return fields.text("harnessId", HARNESS_ID) ?? fields.missing("harnessId");
}

const HARNESS_ID = { pattern: "[a-zA-Z][a-zA-Z0-9_]{0,39}-[a-zA-Z0-9]{10}" };

export function readVersion(fields: Fields, name: string): number | undefined {
  const text = fields.text(name, { pattern: "[1-9][0-9]{0,4}", least: 1, most: 5 });
  return text === undefined ? undefined : Number(text);
}

const TAG_TEXT = "[a-zA-Z0-9\\s._:/=+@-]*";

export const TAGS: TextsRule = {
  most: 50,
  name: { pattern: TAG_TEXT, least: 1, most: 128 },
  value: { pattern: TAG_TEXT, least: 0, most: 256 },
};
