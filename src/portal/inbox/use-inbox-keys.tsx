import { useEffect, useRef } from "react";
import { CARD_KEY } from "./use-dead-zone.tsx";

/** Calls `press` for keys which are not typed into a field and not meant for a control. Returning true uses the key. */
export function useInboxKeys(press: (key: string) => boolean): void {
  const latest = useRef(press);
  useEffect(() => {
    latest.current = press;
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (event.isComposing || isForTarget(event)) return;
      if (latest.current(event.key)) event.preventDefault();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
}

function isForTarget({ key, target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest("input, textarea, select, [contenteditable], dialog") !== null) return true;
  const isCard = target.hasAttribute(CARD_KEY) || target === document.body;
  // Enter presses the focused button or link, and the arrows scroll a focused box.
  if (key === "Enter") return target.closest("button, a, summary") !== null;
  return (key === "ArrowDown" || key === "ArrowUp") && !isCard;
}
