import { describe, expect, it } from "vitest";
import {
  addIndexes,
  countItemsAfter,
  createRowList,
  estimateHeight,
  findOpenRequests,
  findRow,
  findTurnHead,
  type ThreadRow,
} from "./thread-rows.ts";
import {
  createApproval,
  createNotice,
  createTool,
  createTurn,
  createView,
} from "../../../test/support/portal/session-views.ts";

const first = createTurn("t1", [createTool(2, {}), createNotice(5), createTool(9, {})]);
const second = createTurn("t2", [createTool(14, {})]);
const keys = (rows: readonly ThreadRow[]): string[] => rows.map(({ key }) => key);

describe("The rows of a thread", () => {
  it("Each turn has a head, its items and a foot", () => {
    expect(keys(createRowList()(createView([first, second])))).toEqual([
      "head t1",
      "tool 2",
      "notice 5",
      "tool 9",
      "foot t1",
      "head t2",
      "tool 14",
      "foot t2",
    ]);
  });

  it("The rows of an unchanged turn are the same objects in the next view", () => {
    const list = createRowList();
    const before = list(createView([first, second]));
    const after = list(
      createView([first, { ...second, items: [...second.items, createNotice(20)] }]),
    );
    expect(after.slice(0, 5).every((row, index) => row === before[index])).toBe(true);
    expect(keys(after).slice(5)).toEqual(["head t2", "tool 14", "notice 20", "foot t2"]);
    expect(after[6]).not.toBe(before[6]);
  });

  it.each([
    [1, -1],
    [2, 1],
    [8, 2],
    [9, 3],
    [13, 3],
    [14, 6],
    [99, 6],
  ])("The event %d belongs to the row %d", (seq, index) => {
    expect(findRow(createRowList()(createView([first, second])), seq)).toBe(index);
  });

  it("Notices do not count as new items", () => {
    const rows = createRowList()(createView([first, second]));
    expect([countItemsAfter(rows, 0), countItemsAfter(rows, 3), countItemsAfter(rows, 7)]).toEqual([
      3, 1, 0,
    ]);
  });

  it("Rows with open requests are rendered also outside of the visible range", () => {
    const open = { ...createApproval({}), resolution: null };
    const waiting = createTool(4, {}, { ending: null, stage: "waiting", approvals: [open] });
    const rows = createRowList()(createView([createTurn("t", [createNotice(1), waiting])]));
    expect(findOpenRequests(rows)).toEqual([2]);
    expect(addIndexes([5, 6], [2, 6, 9])).toEqual([2, 5, 6, 9]);
  });

  it("Each row belongs to the heading of its turn", () => {
    const rows = createRowList()(createView([first, second]));
    expect([0, 3, 4, 5, 7, 99].map((index) => findTurnHead(rows, index))).toEqual([
      0, 0, 0, 5, 5, 5,
    ]);
  });

  it("A row that does not exist has a height, because rows can disappear during a render", () => {
    expect(estimateHeight(undefined)).toBeGreaterThan(0);
  });
});
