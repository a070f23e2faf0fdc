import { describe, expect, it } from "vitest";
import { INITIAL_REMINDER, readReminder } from "./reminder-form.ts";

describe("The form of a reminder", () => {
  it("Tags are separated by commas or spaces, each once", () => {
    expect(readReminder("Use pnpm", { mode: "audit_only", tags: "tools, build  tools" })).toEqual({
      ok: true,
      reminder: { body: "Use pnpm", mode: "audit_only", tags: ["tools", "build"] },
    });
    expect(readReminder("Use pnpm", INITIAL_REMINDER)).toEqual({
      ok: true,
      reminder: { body: "Use pnpm", mode: "finish_step" },
    });
  });

  it("Too many tags, and a tag that is too long, are refused", () => {
    const many = Array.from({ length: 11 }, (_, at) => `t${at}`).join(",");
    expect(readReminder("a", { ...INITIAL_REMINDER, tags: many })).toEqual({
      ok: false,
      problem: "A reminder has at most 10 tags",
    });
    const long = { ...INITIAL_REMINDER, tags: "x".repeat(65) };
    expect(readReminder("a", long)).toMatchObject({ ok: false });
  });
});
