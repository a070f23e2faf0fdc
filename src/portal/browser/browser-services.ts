import { systemClock } from "../../platform/clock.ts";
import { randomWebFraction, randomWebHex } from "../../platform/web-random.ts";
import type { LiveError } from "../../wire/live/live-frames.ts";
import { createApiClient, type ApiClient } from "../live/api-client.ts";
import { createLiveApiClient, type LiveApiClient } from "../live/live-api-client.ts";
import { createSessionActions } from "../live/session-api.ts";
import { createToasts, type Toasts } from "../shell/toasts.ts";
import type { SessionActions } from "../state/session-actions.ts";
import { openBrowserSocket } from "./browser-socket.ts";
import { nameBrowser } from "./name-browser.ts";

/** The parts of the page behind its views: connection, stores, commands. */
export interface Services {
  readonly live: LiveApiClient;
  readonly api: ApiClient;
  readonly toasts: Toasts;
  readonly clientName: string;
  /** Returns the same object for the same session, so a view with unchanged actions does not render again. */
  readonly actionsFor: (sessionId: string) => SessionActions;
  /** Time of the start of the page. */
  readonly startedAt: number;
}

/** Connects the page to its bridge. */
export function startServices(): Services {
  const clock = systemClock;
  const api = createApiClient({
    fetch: (path, init) => fetch(path, { ...init, credentials: "same-origin" }),
    clock,
    random: randomWebFraction,
    createKey: () => randomWebHex(16),
  });
  const live = createLiveApiClient({
    openSocket: openBrowserSocket,
    clock,
    random: randomWebFraction,
    probe: findRefusal,
    reload: () => location.reload(),
  });
  const clientName = nameBrowser(navigator.userAgent);
  const actions = new Map<string, SessionActions>();
  const toasts = createToasts();
  live.connection.subscribe(() => {
    if (live.connection.get().status === "live") toasts.dismissOutages();
  });
  window.addEventListener("online", () => live.wake());
  document.addEventListener("visibilitychange", () =>
    live.setVisible(document.visibilityState === "visible"),
  );
  live.start();
  return {
    live,
    api,
    toasts,
    clientName,
    startedAt: clock.now(),
    actionsFor(sessionId) {
      const known = actions.get(sessionId);
      if (known !== undefined) return known;
      const created = createSessionActions(sessionId, { api, live, clientName });
      actions.set(sessionId, created);
      return created;
    },
  };
}

/** A browser hides why a WebSocket was refused, so the bridge is asked with a request. */
async function findRefusal(): Promise<LiveError | null> {
  try {
    const response = await fetch("/api/sessions?limit=1", { credentials: "same-origin" });
    if (response.status !== 401 && response.status !== 403) return null;
    return { code: "unauthorized", message: "Sign in to see the sessions of this bridge" };
  } catch {
    return null;
  }
}
