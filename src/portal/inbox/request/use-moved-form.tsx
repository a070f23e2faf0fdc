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
  /** Pixels by which the thread was scrolled while its height did not change: by the reader. */
  #scrolledByReader = 0;
  #scroll: ScrollPosition = { scrollTop: 0, scrollHeight: 0 };
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
    const follow = (): void => {
      const before = this.#scroll;
      this.#scroll = readScroll(scroller);
      // The thread scrolls by itself when its content has changed.
      if (this.#scroll.scrollHeight === before.scrollHeight)
        this.#scrolledByReader += this.#scroll.scrollTop - before.scrollTop;
      measure();
    };
    this.#scroll = readScroll(scroller);
    const sizes = new ResizeObserver(measure);
    sizes.observe(form);
    if (scroller !== null) sizes.observe(scroller);
    // The list of the thread moves a row by its style.
    const moves = new MutationObserver(measure);
    if (row !== null) moves.observe(row, { attributeFilter: ["style"] });
    scroller?.addEventListener("scroll", follow, { passive: true });
    return () => {
      sizes.disconnect();
      moves.disconnect();
      scroller?.removeEventListener("scroll", follow);
      this.#cancel?.();
    };
  }
}

type ScrollPosition = Pick<Element, "scrollTop" | "scrollHeight">;

function readScroll(scroller: Element | null): ScrollPosition {
  const { scrollTop = 0, scrollHeight = 0 } = scroller ?? {};
  return { scrollTop, scrollHeight };
}

function isTyping(form: HTMLElement): boolean {
  const active = document.activeElement;
  return active !== null && form.contains(active) && active.matches("input, textarea, select");
}
