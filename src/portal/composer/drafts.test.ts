import { describe, expect, it } from "vitest";
import { EMPTY_DRAFT, loadDraft, saveDraft, type DraftStorage } from "./drafts.ts";

function createStorage(): DraftStorage & { readonly size: () => number } {
  const entries = new Map<string, string>();
  return {
    getItem: (key) => entries.get(key) ?? null,
    setItem: (key, value) => void entries.set(key, value),
    removeItem: (key) => void entries.delete(key),
    size: () => entries.size,
  };
}

describe("Drafts", () => {
  it("A draft is kept for each session", () => {
    const storage = createStorage();
    saveDraft(storage, "ses_1", { text: "one", mode: "queue" });
    saveDraft(storage, "ses_2", { text: "two", mode: null });
    expect(loadDraft(storage, "ses_1")).toEqual({ text: "one", mode: "queue" });
    expect(loadDraft(storage, "ses_2")).toEqual({ text: "two", mode: null });
    expect(loadDraft(storage, "ses_3")).toEqual(EMPTY_DRAFT);
  });

  it("An empty draft is removed", () => {
    const storage = createStorage();
    saveDraft(storage, "ses_1", { text: "one", mode: null });
    saveDraft(storage, "ses_1", EMPTY_DRAFT);
    expect(storage.size()).toBe(0);
  });

  it("An unreadable draft is empty", () => {
    const storage = createStorage();
    for (const text of ["", "{", "[]", '{"text":1,"mode":"fly"}']) {
      storage.setItem("spanline.draft.ses_1", text);
      expect(loadDraft(storage, "ses_1")).toEqual(EMPTY_DRAFT);
    }
  });

  it("A missing or failing storage does not stop a person from typing", () => {
    const refuse = (): never => {
      throw new Error("The quota is exceeded");
    };
    const broken = { getItem: refuse, setItem: refuse, removeItem: refuse };
    saveDraft(broken, "ses_1", { text: "one", mode: null });
    expect(loadDraft(broken, "ses_1")).toEqual(EMPTY_DRAFT);
    expect(loadDraft(null, "ses_1")).toEqual(EMPTY_DRAFT);
  });
});
