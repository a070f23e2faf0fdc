import { describe, expect, it } from "vitest";
import { linesOf, readFixtures } from "../../../test/fixtures/strands/fixtures.ts";
import { isObject, parseJson } from "../../data/json.ts";
import { foldStrandsEvent, isUnderstoodEvent } from "./strands-event.ts";
import { createStrandsFold } from "./fold.ts";
import type { Fields } from "./state.ts";

/** Every object of the recordings, also with each key removed or set to null. */
function recordedObjects(): Fields[] {
  return readFixtures().flatMap(({ file }) => linesOf(file).flatMap((line) => variantsOf(line)));
}

function variantsOf(line: string): Fields[] {
  const parsed = parseJson(line);
  if (!parsed.ok || !isObject(parsed.value)) return [];
  const { value } = parsed;
  return [
    value,
    ...Object.keys(value).flatMap((left) => [
      { ...value, [left]: null },
      Object.fromEntries(Object.entries(value).filter(([key]) => key !== left)),
    ]),
  ];
}

const WORDS: Fields[] = [
  {},
  { a: 1 },
  { data: 1 },
  { type: "status", data: "busy" },
  { error: "boom", sources: 3 },
  { error: "boom" },
  { start: true },
  { start: true, data: "x" },
  { structured_output: {} },
  { structured_output: null },
  { force_stop: true },
  { event: {} },
  { current_tool_use: {} },
  { citation: {} },
  { type: "RAW" },
];

describe("Recognizing agent events", () => {
  it("isUnderstoodEvent agrees with foldStrandsEvent for every object", () => {
    const objects = [...WORDS, ...recordedObjects()];
    const wrong = objects.filter((fields) => {
      const made = foldStrandsEvent(createStrandsFold().initial(), fields, () => undefined);
      return made !== isUnderstoodEvent(fields);
    });
    expect(objects.length).toBeGreaterThan(1000);
    expect(wrong).toEqual([]);
  });
});
