import { useEffect, useRef, useState, useSyncExternalStore, type ReactNode } from "react";
import type { InboxItem } from "../../wire/live/live-frames.ts";
import { Icon } from "../parts/icons.tsx";
import { formatAnnouncement, NO_ALERTS, planAlerts, type RequestAlert } from "./inbox-alerts.ts";

/** Whether the person wants browser notifications, kept by the browser for this address. */
const STORAGE_KEY = "spanline.notifications";

type Preference = "on" | "off" | "blocked" | "unsupported";

const listeners = new Set<() => void>();

function readPreference(): Preference {
  if (!("Notification" in window) || !window.isSecureContext) return "unsupported";
  if (Notification.permission === "denied") return "blocked";
  try {
    const isOn = window.localStorage.getItem(STORAGE_KEY) === "on";
    return isOn && Notification.permission === "granted" ? "on" : "off";
  } catch {
    return "off";
  }
}

/** Requests the permission of the browser. Called after a click only: browsers block requests without a click. */
async function togglePreference(): Promise<void> {
  const turnsOn = readPreference() === "off";
  if (turnsOn && Notification.permission === "default") await Notification.requestPermission();
  try {
    window.localStorage.setItem(STORAGE_KEY, turnsOn ? "on" : "off");
  } catch {
    // Without storage, notifications stay off, and the button shows this state.
  }
  for (const notify of listeners) notify();
}

function usePreference(): Preference {
  return useSyncExternalStore((notify) => {
    listeners.add(notify);
    return () => listeners.delete(notify);
  }, readPreference);
}

const TEXTS: { readonly [State in Preference]: { readonly name: string; readonly title: string } } =
  {
    on: { name: "Notifications on", title: "Turn browser notifications off" },
    off: { name: "Notify me", title: "Show a browser notification for each new request" },
    blocked: {
      name: "Notifications blocked",
      title: "The browser blocks notifications of this page. Fix: allow them in its settings",
    },
    unsupported: {
      name: "No notifications",
      title: "This browser offers no notifications at this address",
    },
  };

/** Turns browser notifications on and off. */
export function NotificationToggle(): ReactNode {
  const preference = usePreference();
  const { name, title } = TEXTS[preference];
  const isFixed = preference === "blocked" || preference === "unsupported";
  return (
    <button
      type="button"
      className="inbox-tool"
      aria-pressed={preference === "on"}
      aria-disabled={isFixed}
      title={title}
      onClick={() => {
        if (!isFixed) void togglePreference();
      }}
    >
      <Icon name="bell" /> {name}
    </button>
  );
}

/**
 * Announces new requests to screen readers. While the page does not have the focus, shows a browser notification for
 * each new request. Mounted once, for all views.
 */
export function InboxAlerts({
  items,
  onOpen,
}: {
  /** Null until the first list has arrived. */
  readonly items: readonly InboxItem[] | null;
  /** Shows the inbox with this request. */
  readonly onOpen: (key: string) => void;
}): ReactNode {
  const preference = usePreference();
  const state = useRef(NO_ALERTS);
  const openNotifications = useRef(new Map<string, Notification>());
  const [announcement, setAnnouncement] = useState("");
  const open = useRef(onOpen);
  useEffect(() => {
    open.current = onOpen;
  });
  useEffect(() => {
    if (items === null) return;
    const isWatching = document.visibilityState === "visible" && document.hasFocus();
    const plan = planAlerts(state.current, items, preference === "on" && !isWatching);
    state.current = plan.state;
    for (const key of plan.close) {
      openNotifications.current.get(key)?.close();
      openNotifications.current.delete(key);
    }
    for (const alert of plan.open) {
      const notification = showNotification(alert, () => open.current(alert.key));
      if (notification !== undefined) openNotifications.current.set(alert.key, notification);
    }
    const text = formatAnnouncement(plan, items.length);
    if (text !== undefined) setAnnouncement(text);
  }, [items, preference]);
  return <output className="inbox-hidden">{announcement}</output>;
}

/** Some browsers on phones have the constructor and refuse its use. */
function showNotification(
  { key, title, body }: RequestAlert,
  onOpen: () => void,
): Notification | undefined {
  try {
    const notification = new Notification(title, { body, tag: key });
    notification.addEventListener("click", () => {
      window.focus();
      onOpen();
      notification.close();
    });
    return notification;
  } catch {
    return undefined;
  }
}
