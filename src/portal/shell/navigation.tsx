import { useSyncExternalStore, type MouseEvent, type ReactNode } from "react";
import { parseRoute, type Route } from "./route.ts";

const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("popstate", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("popstate", listener);
  };
}

/** The page of the present address. */
export function useRoute(): Route {
  const pathname = useSyncExternalStore(subscribe, () => window.location.pathname);
  return parseRoute(pathname);
}

/** The fragment of the present address, with its `#`. */
export function useHash(): string {
  return useSyncExternalStore(subscribe, () => window.location.hash);
}

/** Shows another page without loading the app again. */
export function navigate(
  path: string,
  { replace = false }: { readonly replace?: boolean } = {},
): void {
  if (replace) window.history.replaceState(null, "", path);
  else window.history.pushState(null, "", path);
  for (const listener of listeners) listener();
}

/** A link within the portal. A click with a modifier key opens a tab, as for any link. */
export function Link({
  to,
  className,
  isCurrent = false,
  onFollow,
  children,
}: {
  readonly to: string;
  readonly className?: string;
  readonly isCurrent?: boolean;
  /** Called after the page has changed by a click. */
  readonly onFollow?: () => void;
  readonly children: ReactNode;
}): ReactNode {
  const follow = (event: MouseEvent): void => {
    const isPlain =
      event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!isPlain || event.defaultPrevented) return;
    event.preventDefault();
    navigate(to);
    onFollow?.();
  };
  return (
    <a
      href={to}
      className={className}
      aria-current={isCurrent ? "page" : undefined}
      onClick={follow}
    >
      {children}
    </a>
  );
}
