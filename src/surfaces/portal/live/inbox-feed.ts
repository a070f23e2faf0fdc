import { pause } from "../../../async/pause.ts";
import { canReadSession } from "../session-resource.ts";
import type { FeedContext } from "./feed-context.ts";
import type { InboxEntry } from "./inbox-index.ts";

/** Characters of the items in a frame. A longer item has a frame of its own. */
const MAX_FRAME_LENGTH = 128 * 1024;

/** Sends the open requests of the caller's sessions, then the changes, until the signal aborts. */
export async function sendInbox(context: FeedContext, signal: AbortSignal): Promise<void> {
  const { caller, clock, inbox, intervalMs } = context;
  let sent = new Map<string, InboxEntry>();
  let wasComplete: boolean | undefined;
  for await (const { entries, isComplete } of inbox.watch(signal)) {
    const visible = entries.filter((entry) => canReadSession(entry, caller));
    const isReset = isComplete !== wasComplete;
    const current = new Map(visible.map((entry) => [entry.key, entry]));
    const changed = visible.filter(({ key, text }) => isReset || sent.get(key)?.text !== text);
    const removed = isReset ? [] : [...sent.keys()].filter((key) => !current.has(key));
    if (isReset || changed.length > 0 || removed.length > 0)
      await sendFrames(context, { changed, removed, ...(isReset && { complete: isComplete }) });
    sent = current;
    wasComplete = isComplete;
    await pause(clock, intervalMs, signal);
  }
}

interface InboxChange {
  readonly changed: readonly InboxEntry[];
  readonly removed: readonly string[];
  /** Present for a reset. */
  readonly complete?: boolean;
}

/** The first frame has the removed keys. With a reset, the further frames add to the first. */
async function sendFrames(
  { writer }: Pick<FeedContext, "writer">,
  { changed, removed, complete }: InboxChange,
): Promise<void> {
  const [first = [], ...further] = splitEntries(changed);
  const reset = complete !== undefined;
  await writer.writeText(encodeInbox(first, { reset, removed, complete }));
  for (const entries of further)
    await writer.writeText(encodeInbox(entries, { reset: false, removed: [] }));
}

/** The items are JSON already. */
function encodeInbox(
  entries: readonly InboxEntry[],
  fields: {
    readonly reset: boolean;
    readonly removed: readonly string[];
    readonly complete?: boolean | undefined;
  },
): string {
  const head = JSON.stringify({ type: "inbox", ...fields }).slice(0, -1);
  return `${head},"items":[${entries.map(({ text }) => text).join(",")}]}`;
}

function splitEntries(entries: readonly InboxEntry[]): InboxEntry[][] {
  const groups: InboxEntry[][] = [];
  let length = Infinity;
  for (const entry of entries) {
    length += entry.text.length;
    if (length > MAX_FRAME_LENGTH) {
      groups.push([]);
      length = entry.text.length;
    }
    groups.at(-1)?.push(entry);
  }
  return groups;
}
