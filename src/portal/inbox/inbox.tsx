import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { systemClock } from "../../platform/clock.ts";
import type { InboxItem } from "../../wire/live/live-frames.ts";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import type { SessionActions } from "../state/session-actions.ts";
import { InboxCard } from "./inbox-card.tsx";
import { BatchDialog } from "./inbox-dialogs.tsx";
import {
  listBatch,
  openBatch,
  pressKey,
  toggleSelected,
  type InboxEffect,
  type InboxFocus,
} from "./inbox-keys.ts";
import { countFacets, groupInbox, type InboxGroup } from "./inbox-list.ts";
import { DecisionHistory, EmptyInbox, LoadingInbox } from "./inbox-sections.tsx";
import { BatchBar, InboxToolbar } from "./inbox-toolbar.tsx";
import { isSettling } from "./request/decision-log.ts";
import { findBlockReason, nameDecision, type Decider } from "./request/request-choices.ts";
import { CARD_KEY, useDeadZone } from "./use-dead-zone.tsx";
import { useInbox, type InboxState } from "./use-inbox.tsx";
import { useInboxKeys } from "./use-inbox-keys.tsx";
import "./request/request.css";
import "./inbox.css";

export interface InboxProps {
  /** Null until the first list has arrived. */
  readonly items: readonly InboxItem[] | null;
  /** False if the list does not contain all open requests. Default: true. */
  readonly isComplete?: boolean;
  readonly decider: Decider;
  readonly actionsFor: (sessionId: string) => Pick<SessionActions, "decide">;
  readonly sessionHref: (sessionId: string) => string;
  readonly onOpenSession: (sessionId: string) => void;
  /** Shows the list of keys. */
  readonly onHelp: () => void;
  /** Starts a session with a prompt, from the empty inbox. */
  readonly onTry?: (prompt: string) => void;
  /** The request to show first, for example after a click on a notification. */
  readonly initialKey?: string;
}

/** The open requests of all sessions, oldest first. */
export function Inbox(props: InboxProps): ReactNode {
  const { items, onTry } = props;
  const state = useInbox(items ?? NO_ITEMS, props.actionsFor, props.decider.isConnected);
  const { visible, filter, focus, setFocus, log } = state;
  const [isGrouped, setGrouped] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const isHeld = useDeadZone(list);
  const facets = useMemo(() => countFacets(items ?? NO_ITEMS), [items]);
  const groups = useMemo(() => groupInbox(visible, isGrouped), [visible, isGrouped]);
  useFocusedCard(list, focus.current);
  useTouchedCard(list, setFocus);
  useInitialKey(props.initialKey, state);
  const explanation = useKeyboard(groups, props, state, list);

  return (
    <div className="inbox">
      <InboxToolbar
        total={items?.length ?? 0}
        facets={facets}
        filter={filter}
        onFilter={state.setFilter}
        isGrouped={isGrouped}
        onGroup={setGrouped}
        onHelp={props.onHelp}
      />
      {props.isComplete === false && (
        <p className="inbox-note">More requests wait. They appear as these are decided.</p>
      )}
      {items === null && <LoadingInbox />}
      {items?.length === 0 && <EmptyInbox onTry={onTry} />}
      <div className="inbox-list" ref={list}>
        {groups.map((group) => (
          <CardGroup
            key={group.sessionId ?? "all"}
            group={group}
            inbox={props}
            state={state}
            isHeld={isHeld}
          />
        ))}
      </div>
      <output className="inbox-explanation">{explanation}</output>
      <BatchBar
        count={focus.selected.size}
        allowable={listBatch(focus.selected, visible, true).length}
        deniable={listBatch(focus.selected, visible, false).length}
        onBatch={(yes) => setFocus((present) => openBatch(present, visible, yes))}
        onClear={() => setFocus((present) => ({ ...present, selected: new Set() }))}
      />
      <DecisionHistory history={log.history} sessionHref={props.sessionHref} />
      <InboxDialog state={state} />
    </div>
  );
}

const NO_ITEMS: readonly InboxItem[] = [];

/** Scrolls to the current card and focuses the card, unless another part of the page has the focus. */
function useFocusedCard(list: React.RefObject<HTMLElement | null>, current: string | null): void {
  useEffect(() => {
    const card = findCard(list.current, current);
    const active = document.activeElement;
    const isFree = active === null || active === document.body;
    if (card === undefined || card.contains(active)) return;
    if (!isFree && list.current?.contains(active) !== true) return;
    focusCard(card);
  }, [list, current]);
}

function focusCard(card: HTMLElement | undefined): void {
  card?.focus({ preventScroll: true });
  card?.scrollIntoView({ block: "nearest" });
}

function findCard(list: HTMLElement | null, key: string | null): HTMLElement | undefined {
  const cards = list?.querySelectorAll<HTMLElement>(`[${CARD_KEY}]`) ?? [];
  return [...cards].find((card) => card.getAttribute(CARD_KEY) === key);
}

/** A touched or focused card becomes the current card. */
function useTouchedCard(
  list: React.RefObject<HTMLElement | null>,
  setFocus: InboxState["setFocus"],
): void {
  useEffect(() => {
    const element = list.current;
    const touch = ({ target }: Event): void => {
      const card = target instanceof Element ? target.closest(`[${CARD_KEY}]`) : null;
      const key = card?.getAttribute(CARD_KEY);
      if (typeof key === "string") setFocus((present) => makeCurrent(present, key));
    };
    element?.addEventListener("focusin", touch);
    element?.addEventListener("pointerdown", touch);
    return () => {
      element?.removeEventListener("focusin", touch);
      element?.removeEventListener("pointerdown", touch);
    };
  }, [list, setFocus]);
}

/** Makes the named request the current one as soon as the list contains the request. */
function useInitialKey(key: string | undefined, { visible, setFocus }: InboxState): void {
  const used = useRef<string>(undefined);
  useEffect(() => {
    if (key === undefined || used.current === key) return;
    if (!visible.some((item) => item.key === key)) return;
    used.current = key;
    setFocus((present) => ({ ...present, current: key }));
  }, [key, visible, setFocus]);
}

/** Performs the keys of the inbox. Returns the reason why the last key did nothing, or an empty string. */
function useKeyboard(
  groups: readonly InboxGroup[],
  inbox: InboxProps,
  state: InboxState,
  list: React.RefObject<HTMLElement | null>,
): string {
  const { focus, setFocus, log } = state;
  const [explanation, setExplanation] = useState("");
  useInboxKeys((key) => {
    const result = pressKey(focus, key, {
      items: groups.flatMap((group) => group.items),
      now: systemClock.now(),
      isSettling: (requestKey) => isSettling(log.statuses.get(requestKey)),
      blockReason: findBlockReason(inbox.decider),
    });
    if (result === undefined) return false;
    setFocus(() => result.focus);
    // A person who followed a link still has the focus on the link.
    if (result.focus.current !== focus.current)
      focusCard(findCard(list.current, result.focus.current));
    setExplanation(result.effect?.type === "explain" ? result.effect.text : "");
    if (result.effect !== undefined) performEffect(result.effect, inbox, state, list.current);
    return true;
  });
  return explanation;
}

function performEffect(
  effect: InboxEffect,
  { onOpenSession }: InboxProps,
  { visible, decide }: InboxState,
  list: HTMLElement | null,
): void {
  if (effect.type === "explain") return;
  const item = visible.find(({ key }) => key === effect.key);
  if (item === undefined) return;
  switch (effect.type) {
    case "decide": {
      const { decision } = effect;
      return decide(item, { decision }, nameDecision(item.request, decision));
    }
    case "open-session":
      return onOpenSession(item.sessionId);
    case "enter-card": {
      const controls = findCard(list, effect.key)?.querySelector<HTMLElement>(
        ".request-controls :is(input, textarea, select, button)",
      );
      return controls?.focus();
    }
  }
}

function CardGroup({
  group,
  inbox,
  state,
  isHeld,
}: {
  readonly group: InboxGroup;
  readonly inbox: InboxProps;
  readonly state: InboxState;
  readonly isHeld: (key: string) => boolean;
}): ReactNode {
  const { focus, setFocus, log, decide, dismiss, visible } = state;
  const { sessionId, title, items } = group;
  const cards = items.map((item) => (
    <li key={item.key}>
      <InboxCard
        item={item}
        decider={inbox.decider}
        status={log.statuses.get(item.key)}
        isCurrent={focus.current === item.key}
        isSelected={focus.selected.has(item.key)}
        isSelectable={visible.length > 1}
        isHeld={isHeld(item.key)}
        hasSession={sessionId === undefined}
        panel={getPanel(focus, item.key)}
        sessionHref={inbox.sessionHref(item.sessionId)}
        onPanel={(panel) =>
          setFocus((present) => ({
            ...present,
            current: item.key,
            panel: panel === null ? null : { type: panel, key: item.key },
          }))
        }
        onSelect={() => setFocus((present) => toggleSelected(present, item.key))}
        onOpenSession={() => inbox.onOpenSession(item.sessionId)}
        onChoose={(choice, label) => decide(item, choice, label)}
        onDismiss={() => dismiss(item.key)}
      />
    </li>
  ));
  if (sessionId === undefined) return <ul className="inbox-cards">{cards}</ul>;
  return (
    <section className="inbox-group" aria-label={title}>
      <h2>
        <a href={inbox.sessionHref(sessionId)}>
          <UntrustedText text={title} />
        </a>
        <span className="inbox-agent">
          <UntrustedText text={group.agent} />
        </span>
      </h2>
      <ul className="inbox-cards">{cards}</ul>
    </section>
  );
}

function getPanel({ panel }: InboxFocus, key: string): "deny" | "edit" | null {
  if (panel === null || panel.type === "batch") return null;
  return panel.key === key ? panel.type : null;
}

/** A panel of another card stays open, because closing the panel would move the pressed button. */
function makeCurrent(focus: InboxFocus, key: string): InboxFocus {
  return focus.current === key ? focus : { ...focus, current: key, displacedAt: null };
}

function InboxDialog({ state }: { readonly state: InboxState }): ReactNode {
  const { focus, setFocus, visible, decide } = state;
  const { panel } = focus;
  const close = (): void => setFocus((present) => ({ ...present, panel: null }));
  if (panel?.type !== "batch") return null;
  const { yes, keys } = panel;
  const items = visible.filter(({ key }) => keys.includes(key));
  return (
    <BatchDialog
      items={items}
      yes={yes}
      onClose={close}
      onConfirm={(reason) => {
        close();
        for (const item of items) {
          const decision = yes ? "allow" : "deny";
          const choice = { decision, ...(reason !== undefined && { reason }) } as const;
          decide(item, choice, nameDecision(item.request, decision));
        }
      }}
    />
  );
}
