import { useEffect, useLayoutEffect, useState, type RefObject } from "react";
import { systemClock } from "../../../platform/clock.ts";
import { acceptLayout, getDeadTime, recordLayout, type DeadZone } from "./dead-zone.ts";

/**
 * True for a moment after a form of the thread has appeared, or has moved on the screen: a press may be meant for
 * something else. The reader's own scrolling and typing are no moves.
 */
export function useMovedForm(form: RefObject<HTMLElement | null>): boolean {
  const [isHeld, setHeld] = useState(true);
  const [tracker] = useState(() => new FormTracker(setHeld));
  useLayoutEffect(() => tracker.measure(form.current));
  useEffect(() => {
    const element = form.current;
    return element === null ? undefined : tracker.observe(element);
  }, [form, tracker]);
  return isHeld;
}

const FORM = "form";

/** A form without an earlier place counts as moved. */
const APPEARING: DeadZone = { tops: new Map(), movedAt: new Map() };

class FormTracker {
  #zone = APPEARING;
  /** Pixels by which the reader has scrolled the thread. */
  #scrolledByReader = 0;
  #scrollTop = 0;
  #gestureAt = 0;
  #cancel: (() => void) | undefined;
  readonly #onHeld: (isHeld: boolean) => void;

  constructor(onHeld: (isHeld: boolean) => void) {
    this.#onHeld = onHeld;
  }

  measure(form: HTMLElement | null): void {
    if (form === null) return;
    const now = systemClock.now();
    const before = getDeadTime(this.#zone, FORM, now);
    const top = form.getBoundingClientRect().top + this.#scrolledByReader;
    const tops = new Map([[FORM, top]]);
    this.#zone = isTyping(form)
      ? acceptLayout(this.#zone, tops)
      : recordLayout(this.#zone, tops, now);
    const remaining = getDeadTime(this.#zone, FORM, now);
    if (remaining <= before) return;
    this.#cancel?.();
    this.#cancel = systemClock.schedule(remaining, () => this.#onHeld(false));
    this.#onHeld(true);
  }

  /** Measures after each change which can move the form without rendering the form. Returns a function that stops. */
  observe(form: HTMLElement): () => void {
    const scroller = form.closest(".thread-scroll");
    const row = form.closest("li");
    const measure = (): void => this.measure(form);
    const noteGesture = (): void => {
      this.#gestureAt = systemClock.now();
    };
    const follow = (): void => {
      const scrollTop = scroller?.scrollTop ?? 0;
      if (systemClock.now() - this.#gestureAt < GESTURE_MS)
        this.#scrolledByReader += scrollTop - this.#scrollTop;
      this.#scrollTop = scrollTop;
      measure();
    };
    this.#scrollTop = scroller?.scrollTop ?? 0;
    const sizes = new ResizeObserver(measure);
    sizes.observe(form);
    if (scroller !== null) sizes.observe(scroller);
    // The list of the thread moves a row by its style.
    const moves = new MutationObserver(measure);
    if (row !== null) moves.observe(row, { attributeFilter: ["style"] });
    scroller?.addEventListener("scroll", follow, { passive: true });
    for (const name of GESTURES) scroller?.addEventListener(name, noteGesture, { passive: true });
    return () => {
      sizes.disconnect();
      moves.disconnect();
      scroller?.removeEventListener("scroll", follow);
      for (const name of GESTURES) scroller?.removeEventListener(name, noteGesture);
      this.#cancel?.();
    };
  }
}

/** Milliseconds in which a scroll event belongs to the last gesture of the reader. */
const GESTURE_MS = 1000;
const GESTURES = ["wheel", "touchmove", "keydown"];

function isTyping(form: HTMLElement): boolean {
  const active = document.activeElement;
  return active !== null && form.contains(active) && active.matches("input, textarea, select");
}
