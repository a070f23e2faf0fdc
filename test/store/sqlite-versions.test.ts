import { describe, expect, it } from "vitest";
import { EVENT_VERSIONS } from "../../src/domain/events/upcast.ts";
import {
  acquire,
  delta,
  entry,
  HOUR,
  NOW,
  seqs,
  sessionOf,
} from "../contracts/store/store-subject.ts";
import { fileWithLog, opened, tamper, type StoredRow } from "./sqlite-support.ts";

function stored(
  seq: number,
  version: number,
  event: { readonly type: string; readonly title?: string },
): StoredRow {
  const body = JSON.stringify({ at: NOW, visibility: "public", event });
  return { seq, type: event.type, version, body };
}

const titled = stored(1, 1, { type: "session.title_changed", title: "Tea" });

describe("Events of an older version", () => {
  it("An older event is upcast when read, and new events are written in the current version", async () => {
    const file = await fileWithLog("ses_1", [titled]);
    const versions = {
      manifest: { ...EVENT_VERSIONS.manifest, "session.title_changed": { version: 3 } },
      upcasts: {
        "session.title_changed": [
          ({ title, ...rest }: { readonly [name: string]: unknown }) => ({ ...rest, name: title }),
          (fields: { readonly [name: string]: unknown }) => ({ ...fields, language: "en" }),
        ],
      },
    };
    const store = await opened({ file, versions });
    expect(await store.read("ses_1", 0, 9)).toMatchObject([
      { event: { type: "session.title_changed", name: "Tea", language: "en" } },
    ]);
    const { lease } = await acquire(store, "ses_1");
    const event = { type: "session.title_changed", title: "as given" } as const;
    await store.append(lease, 1, entry([{ at: NOW, visibility: "public", event }]));
    expect(await store.read("ses_1", 1, 9)).toMatchObject([{ event }]);
    await store.close();
    const today = await opened({ file });
    const raw = { version: 3, event };
    expect(await today.read("ses_1", 1, 9)).toMatchObject([
      { event: { type: "provider.unknown", what: "event", name: "session.title_changed", raw } },
    ]);
  });
});

describe("Events of a newer version", () => {
  const newer = [
    ["a type that is not known", stored(2, 1, { type: "weather.changed" })],
    ["a version that is not known", stored(2, 2, { type: "session.title_changed" })],
    ["a name that objects have anyway", stored(2, 1, { type: "constructor" })],
  ] as const;

  it.each(newer)(
    "A session with a newer event (%s) is readable and cannot be leased",
    async (_, row) => {
      const file = await fileWithLog("ses_1", [titled, row]);
      await tamper(file, (database) => database.exec("UPDATE sessions SET wake_at = 0"));
      const store = await opened({ file });
      const { type, version, body } = row;
      const { event }: { event: unknown } = JSON.parse(body);
      expect(await store.read("ses_1", 0, 9)).toEqual([
        { sessionId: "ses_1", seq: 1, ...JSON.parse(titled.body) },
        {
          sessionId: "ses_1",
          seq: 2,
          at: NOW,
          visibility: "public",
          event: { type: "provider.unknown", what: "event", name: type, raw: { version, event } },
        },
      ]);
      await expect(acquire(store, "ses_1")).rejects.toMatchObject({
        code: "store_newer",
        details: { sessionId: "ses_1" },
      });
      expect(await store.claimDue(NOW, { owner: "me", durationMs: HOUR, limit: 9 })).toEqual([]);
      expect(await store.checkIntegrity()).toEqual([
        `Session ses_1: event 2 was written by a newer version (${type}, version ${version})`,
      ]);
    },
  );

  it("A newer event does not affect other sessions", async () => {
    const file = await fileWithLog("ses_1", [stored(1, 1, { type: "weather.changed" })]);
    const store = await opened({ file });
    const lease = await sessionOf(store, "ses_2", 1);
    await store.append(lease, 1, entry([delta("2")]));
    expect(seqs(await store.read("ses_2", 0, 9))).toEqual([1, 2]);
  });
});
