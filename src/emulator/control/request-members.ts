import type { RequestFields, TextMapRule } from "./request-fields.ts";

export function readHarnessId(fields: RequestFields): string {
  return fields.readText("harnessId", HARNESS_ID_RULE) ?? fields.refuseMissing("harnessId");
}

const HARNESS_ID_RULE = { pattern: "[a-zA-Z][a-zA-Z0-9_]{0,39}-[a-zA-Z0-9]{10}" };

export function readVersion(fields: RequestFields, name: string): number | undefined {
  const text = fields.readText(name, { pattern: "[1-9][0-9]{0,4}", min: 1, max: 5 });
  return text === undefined ? undefined : Number(text);
}

const TAG_PATTERN = "[a-zA-Z0-9\\s._:/=+@-]*";

export const TAGS_RULE: TextMapRule = {
  max: 50,
  name: { pattern: TAG_PATTERN, min: 1, max: 128 },
  value: { pattern: TAG_PATTERN, min: 0, max: 256 },
};
