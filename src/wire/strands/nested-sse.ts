import { parseLenientJson } from "./python/lenient-json.ts";

/**
 * The data of an event stream that an app sent inside a string; empty when the text is anything else, such as an
 * answer that speaks of event streams.
 */
export function readNestedSse(text: string): unknown[] {
  if (!/^(?:data|event|id|retry|):/.test(text) || !/\n\r?\n$/.test(text)) return [];
  const values: unknown[] = [];
  let data: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, name, value] = FIELD.exec(line) ?? [];
    if (name === "data") data.push(value ?? "");
    else if (line === "" && data.length > 0) {
      const parsed = parseLenientJson(data.join("\n"));
      if (!parsed.ok) return [];
      values.push(parsed.value);
      data = [];
    } else if (line !== "" && name === undefined) return [];
  }
  return values;
}

const FIELD = /^(data|event|id|retry|): ?(.*)$/s;
