import type { ReactNode } from "react";
import { systemClock } from "../../platform/clock.ts";
import { useNow } from "../parts/time.tsx";
import { describeConnection, type ConnectionNotice } from "./describe-connection.ts";
import { navigate } from "./navigation.tsx";
import { useServices, useStore } from "./services.tsx";

/** An outage, on every page, with the time since the last event. */
export function ConnectionBanner(): ReactNode {
  const { live, startedAt } = useServices();
  const connection = useStore(live.connection);
  const now = useNow(connection.status === "live" ? 3_600_000 : 1000);
  const notice = describeConnection(connection, {
    now: Math.max(now, systemClock.now()),
    startedAt,
  });
  return (
    <output className="shell-banner" data-tone={notice?.tone}>
      {notice !== undefined && (
        <>
          <span className="shell-banner-dot" aria-hidden="true" />
          <span>{notice.text}</span>
          <BannerButton notice={notice} />
        </>
      )}
    </output>
  );
}

function BannerButton({ notice }: { readonly notice: ConnectionNotice }): ReactNode {
  const { live } = useServices();
  switch (notice.action) {
    case "retry":
      return (
        <button type="button" className="shell-link" onClick={() => live.wake()}>
          Try now
        </button>
      );
    case "sign-in":
      return (
        <button type="button" className="shell-link" onClick={() => navigate("/login")}>
          Sign in
        </button>
      );
    case "reload":
      return (
        <button type="button" className="shell-link" onClick={() => window.location.reload()}>
          Reload
        </button>
      );
    case undefined:
      return null;
    default:
      return notice.action satisfies never;
  }
}
