import type { Envelope } from "../../../domain/events/envelope.ts";
import type { ViewDraft } from "../view-draft.ts";

/** A bridge that was updated while this page is open may send new types. They become one notice per turn. */
export function noteNewerEvent(draft: ViewDraft, type: string, { seq, at }: Envelope): void {
  const key = `newer:${draft.lastTurn?.turnId ?? ""}`;
  const known = draft.findItem("notice", key);
  const types = known?.details?.split("\n") ?? [];
  if (types.includes(type) || types.length >= MAX_TYPES) return;
  const text = "Some events are not shown: the bridge is newer than this page. Reload the page";
  const base = { kind: "notice", key, at: known?.at ?? at, seq: known?.seq ?? seq } as const;
  draft.addItem({ ...base, level: "warning", text, details: [...types, type].join("\n") });
}

const MAX_TYPES = 20;
