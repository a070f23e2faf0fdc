import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EVENT_MANIFEST } from "../../src/domain/events/event-manifest.ts";

const folder = join(import.meta.dirname, "../../src/session");
const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
  (path) => path.endsWith(".ts") && !path.endsWith(".test.ts"),
);

/** Files which emit each event. An emitted event has its type as a field value, not as a type. */
const makers = sources.flatMap((path) => {
  const text = readFileSync(join(folder, path), "utf8");
  const types = [...text.matchAll(/(?<!readonly )\btype: "([a-z._]+)"/g)].map(
    ([, type = ""]) => type,
  );
  const slice = path.includes("/") ? path.slice(0, path.indexOf("/")) : "session";
  return types.flatMap((type) => (Object.hasOwn(EVENT_MANIFEST, type) ? [{ type, slice }] : []));
});

describe("Events of a session", () => {
  it.each(Object.entries(EVENT_MANIFEST))(
    "The event %s is emitted by its slice alone",
    (type, { slice }) => {
      const slices = new Set(makers.filter((maker) => maker.type === type).map((one) => one.slice));
      expect([...slices]).toEqual([slice]);
    },
  );
});
