import { useEffect, useMemo, useRef, useState } from "react";
import { systemClock } from "../../platform/clock.ts";
import type { InboxItem } from "../../wire/live/live-frames.ts";
import type { ApprovalChoice, SessionActions } from "../state/session-actions.ts";
import { advance, followItems, INITIAL_FOCUS, type InboxFocus } from "./inbox-keys.ts";
import { filterInbox, NO_FILTER, relaxFilter, sortInbox, type InboxFilter } from "./inbox-list.ts";
import type { DecisionLog } from "./request/decision-log.ts";
import { useDecisions } from "./request/use-decisions.ts";

/** The state of the inbox page and its actions. */
export interface InboxState {
  readonly visible: readonly InboxItem[];
  readonly filter: InboxFilter;
  readonly setFilter: (filter: InboxFilter) => void;
  readonly focus: InboxFocus;
  readonly setFocus: (change: (focus: InboxFocus) => InboxFocus) => void;
  readonly log: DecisionLog;
  readonly decide: (item: InboxItem, choice: ApprovalChoice, label: string) => void;
  readonly dismiss: (key: string) => void;
}

export function useInbox(
  items: readonly InboxItem[],
  actionsFor: (sessionId: string) => Pick<SessionActions, "decide">,
  isConnected: boolean,
): InboxState {
  const [chosenFilter, setFilter] = useState<InboxFilter>(NO_FILTER);
  const [focus, setFocus] = useState<InboxFocus>(INITIAL_FOCUS);
  const { log, send, dismiss } = useDecisions(items, isConnected);
  const filter = relaxFilter(chosenFilter, items);
  const { agent, kind } = filter;
  const visible = useMemo(
    () => filterInbox(sortInbox(items), { agent, kind }),
    [items, agent, kind],
  );

  const previous = useRef<readonly InboxItem[]>([]);
  useEffect(() => {
    const before = previous.current;
    previous.current = visible;
    setFocus((present) => followItems(present, before, { items: visible, now: systemClock.now() }));
  }, [visible]);

  const decide = (item: InboxItem, choice: ApprovalChoice, label: string): void => {
    setFocus((present) => advance(present, visible, item.key));
    send(item, actionsFor(item.sessionId), choice, label);
  };
  return { visible, filter, setFilter, focus, setFocus, log, decide, dismiss };
}
