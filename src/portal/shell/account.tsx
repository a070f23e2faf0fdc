import type { ReactNode } from "react";
import { Icon } from "../parts/icons.tsx";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import { Link } from "./navigation.tsx";
import { useServices, useStore } from "./services.tsx";

/** The person at this page, with the way to become another. Absent before the first connection. */
export function Account(): ReactNode {
  const { live, api, toasts } = useServices();
  const { ready } = useStore(live.connection);
  if (ready === null) return null;
  const { id, rights } = ready.principal;
  const signOut = async (): Promise<void> => {
    const request = api.request({ method: "POST", path: "/api/logout", body: {} });
    const result = await toasts.watch("logout", "You were not signed out", request);
    // The connection starts again without the cookie.
    if (result.ok) window.location.assign("/login");
  };
  return (
    <section className="shell-account" aria-label="Account">
      <Icon name="person" />
      <span className="shell-account-name" title={`Rights: ${rights.join(", ") || "none"}`}>
        <span className="shell-unseen">Signed in as </span>
        <UntrustedText text={id} />
      </span>
      {rights.includes("approve") || id !== "local" ? (
        <button type="button" className="shell-link" onClick={() => void signOut()}>
          Sign out
        </button>
      ) : (
        <Link to="/login">Sign in to decide</Link>
      )}
    </section>
  );
}
