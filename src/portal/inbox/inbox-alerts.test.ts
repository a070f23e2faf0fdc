import { describe, expect, it } from "vitest";
import { createInboxItem } from "../../../test/support/portal/inbox-items.ts";
import { formatAnnouncement, formatTabTitle, NO_ALERTS, planAlerts } from "./inbox-alerts.ts";

const a = createInboxItem("a");
const b = createInboxItem("b");

describe("Alerts about new requests", () => {
  it("The requests of the first list are not new", () => {
    const plan = planAlerts(NO_ALERTS, [a], true);
    expect(plan).toMatchObject({ added: [], open: [], close: [] });
  });

  it("A new request opens one notification, which is closed when the request leaves", () => {
    const start = planAlerts(NO_ALERTS, [a], true).state;
    const added = planAlerts(start, [a, b], true);
    expect(added.open).toEqual([
      {
        key: "ses_1/b",
        sessionId: "ses_1",
        title: "demo: Tool call",
        body: "Edit README.md?\nFix the checkout",
      },
    ]);
    const repeated = planAlerts(added.state, [a, b], true);
    expect(repeated.open).toEqual([]);
    expect(planAlerts(repeated.state, [a], true).close).toEqual(["ses_1/b"]);
  });

  it("A request that arrives while the person looks at the inbox never opens a notification", () => {
    const start = planAlerts(NO_ALERTS, [], false).state;
    const seen = planAlerts(start, [a], false);
    expect(seen.added).toHaveLength(1);
    expect(planAlerts(seen.state, [a], true).open).toEqual([]);
  });

  it("At most 5 notifications are open", () => {
    const start = planAlerts(NO_ALERTS, [], true).state;
    const many = Array.from({ length: 9 }, (_, at) => createInboxItem(`n${at}`));
    expect(planAlerts(start, many, true).open).toHaveLength(5);
  });

  it("Screen readers announce new and closed requests with the number of waiting requests", () => {
    const start = planAlerts(NO_ALERTS, [], true).state;
    const one = planAlerts(start, [a], true);
    expect(formatAnnouncement(one, 1)).toBe("New request from demo: Tool call. 1 request waiting.");
    const two = planAlerts(start, [a, b], true);
    expect(formatAnnouncement(two, 2)).toBe("2 new requests. 2 requests waiting.");
    const closed = planAlerts(two.state, [b], true);
    expect(formatAnnouncement(closed, 1)).toBe("1 request closed. 1 request waiting.");
    expect(formatAnnouncement(planAlerts(two.state, [a, b], true), 2)).toBeUndefined();
  });

  it("The tab title starts with the number of waiting requests", () => {
    expect(formatTabTitle("Fix the checkout", 3)).toBe("(3) Fix the checkout · Spanline");
    expect(formatTabTitle(null, 0)).toBe("Spanline");
    expect(formatTabTitle(null, 120)).toBe("(99+) Spanline");
  });
});
