import { describe, expect, it } from "vitest";
import {
  createInboxItem,
  createQuestion,
  createRequest,
  SAMPLE_TIME,
} from "../../../test/support/portal/inbox-items.ts";
import {
  countFacets,
  filterInbox,
  groupInbox,
  nameSession,
  relaxFilter,
  sortInbox,
} from "./inbox-list.ts";

const late = createInboxItem("late", createRequest(), { requestedAt: SAMPLE_TIME + 9 });
const other = createInboxItem("other", createQuestion({}), {
  sessionId: "ses_2",
  agent: "helper",
  title: null,
  requestedAt: SAMPLE_TIME + 5,
});
const early = createInboxItem("early");
const items = sortInbox([late, other, early]);

describe("The list of the inbox", () => {
  it("The oldest request is first", () => {
    expect(items).toEqual([early, other, late]);
  });

  it("A filter keeps the requests of an agent and a kind", () => {
    expect(filterInbox(items, { agent: "demo", kind: null })).toEqual([early, late]);
    expect(filterInbox(items, { agent: null, kind: "question" })).toEqual([other]);
    expect(filterInbox(items, { agent: "demo", kind: "question" })).toEqual([]);
  });

  it("A filter that matches no request is removed", () => {
    const filter = { agent: "gone", kind: "question" } as const;
    expect(relaxFilter(filter, items)).toEqual({ agent: null, kind: "question" });
    const valid = { agent: "demo", kind: null };
    expect(relaxFilter(valid, items)).toBe(valid);
  });

  it("Groups are sessions, ordered by their oldest request", () => {
    expect(groupInbox(items, true)).toEqual([
      { sessionId: "ses_1", title: "Fix the checkout", agent: "demo", items: [early, late] },
      { sessionId: "ses_2", title: "Untitled session", agent: "helper", items: [other] },
    ]);
    expect(groupInbox(items, false)).toEqual([{ title: "", agent: "", items }]);
    expect(groupInbox([], false)).toEqual([]);
  });

  it("The filter offers the agents and kinds that occur", () => {
    expect(countFacets(items)).toEqual({
      agents: [
        { value: "demo", count: 2 },
        { value: "helper", count: 1 },
      ],
      kinds: [
        { value: "tool", count: 2 },
        { value: "question", count: 1 },
      ],
    });
  });

  it("A session without a title has a name", () => {
    expect(nameSession({ title: " " })).toBe("Untitled session");
  });
});
