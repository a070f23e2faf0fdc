import { describe, expect, it } from "vitest";
import {
  applyEventRule,
  mapped,
  mappedIf,
  silent,
  silentGroup,
  type EventRules,
} from "./event-rules.ts";
import { EVENT_MANIFEST } from "./events/event-manifest.ts";
import type { Envelope } from "./events/envelope.ts";
import type { SessionEvent, SessionEventType } from "./events/session-event.ts";

interface TitleState {
  isOpen: boolean;
}

const OTHER_TYPES = Object.keys(EVENT_MANIFEST).filter(
  (type): type is Exclude<SessionEventType, "session.title_changed" | "session.mode_changed"> =>
    type !== "session.title_changed" && type !== "session.mode_changed",
);

const whileOpen = mappedIf<TitleState>(({ isOpen }) => isOpen);

const RULES: EventRules<TitleState, string> = {
  ...silentGroup("the test reads titles and modes", OTHER_TYPES),
  "session.title_changed": whileOpen((_, { title }, emit) => emit(title)),
  "session.mode_changed": mapped((state, { mode }, emit, { seq }) => {
    state.isOpen = true;
    emit(`${seq}: ${mode}`);
  }),
};

const TITLE: SessionEvent = { type: "session.title_changed", title: "Milk" };
const MODE: SessionEvent = { type: "session.mode_changed", mode: "read-only" };

function encode(events: readonly SessionEvent[]): string[] {
  const state: TitleState = { isOpen: false };
  const out: string[] = [];
  for (const [index, event] of events.entries()) {
    const envelope: Envelope = {
      sessionId: "s",
      seq: index + 1,
      at: 0,
      visibility: "public",
      event,
    };
    applyEventRule(RULES, state, envelope, (text) => out.push(text));
  }
  return out;
}

describe("event rules", () => {
  it("A mapped event is encoded by its own rule, which receives the state and the envelope [B-014]", () => {
    expect(encode([MODE, TITLE])).toEqual(["1: read-only", "Milk"]);
  });

  it("A conditional rule emits nothing while its condition is false [B-014]", () => {
    expect(encode([TITLE, MODE, TITLE])).toEqual(["2: read-only", "Milk"]);
  });

  it("Every event of a silent group carries the reason of the group and emits nothing [B-014]", () => {
    for (const type of OTHER_TYPES)
      expect(RULES[type]).toEqual(silent("the test reads titles and modes"));
    expect(encode([{ type: "session.metadata_changed", metadata: {} }])).toEqual([]);
  });

  it("A table without a rule for one event does not compile [B-014]", () => {
    const { "session.mode_changed": _, ...rest } = RULES;
    // @ts-expect-error -- `session.mode_changed` has no rule.
    const incomplete: EventRules<TitleState, string> = rest;
    expect(Object.keys(incomplete)).not.toContain("session.mode_changed");
  });
});
