import { useEffect, useLayoutEffect, useReducer, useRef, type RefObject } from "react";
import { systemClock } from "../../platform/clock.ts";
import {
  getDeadTime,
  getLongestDeadTime,
  NO_DEAD_ZONE,
  recordLayout,
} from "./request/dead-zone.ts";

/** The attribute of a card with its key. */
export const CARD_KEY = "data-card";

/** Measures the cards of a list after each change of the layout. Returns which cards ignore decisions now. */
export function useDeadZone(list: RefObject<HTMLElement | null>): (key: string) => boolean {
  const zone = useRef(NO_DEAD_ZONE);
  const [, renderAgain] = useReducer((count: number) => count + 1, 0);
  const cancel = useRef<(() => void) | null>(null);

  const measure = useRef(() => {
    const now = systemClock.now();
    const before = getLongestDeadTime(zone.current, now);
    zone.current = recordLayout(zone.current, readTops(list.current), now);
    const remainingMs = getLongestDeadTime(zone.current, now);
    if (remainingMs <= before) return;
    cancel.current?.();
    cancel.current = systemClock.schedule(remainingMs + 1, renderAgain);
    renderAgain();
  });
  useLayoutEffect(() => measure.current());
  useEffect(() => {
    const element = list.current;
    if (element === null) return undefined;
    // Unfolding a part of a card moves the cards below without a render of the list.
    const observer = new ResizeObserver(() => measure.current());
    observer.observe(element);
    return () => {
      observer.disconnect();
      cancel.current?.();
    };
  }, [list]);
  return (key) => getDeadTime(zone.current, key, systemClock.now()) > 0;
}

function readTops(list: HTMLElement | null): ReadonlyMap<string, number> {
  const tops = new Map<string, number>();
  if (list === null) return tops;
  const { top: origin } = list.getBoundingClientRect();
  for (const card of list.querySelectorAll<HTMLElement>(`[${CARD_KEY}]`)) {
    const key = card.getAttribute(CARD_KEY);
    if (key !== null) tops.set(key, card.getBoundingClientRect().top - origin);
  }
  return tops;
}
