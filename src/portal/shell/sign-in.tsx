import { useState, type FormEvent, type ReactNode } from "react";
import type { LiveError } from "../../wire/live/live-frames.ts";
import { useServices } from "./services.tsx";
import { BridgeMark } from "./shell-icon.tsx";
import { usePageTitle } from "./use-page-title.tsx";

/** Exchanges a key for the cookie of this browser. */
export function SignIn(): ReactNode {
  const { api } = useServices();
  const [key, setKey] = useState("");
  const [error, setError] = useState<LiveError | null>(null);
  const [isSending, setSending] = useState(false);
  usePageTitle("Sign in");
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setSending(true);
    const result = await api.request({
      method: "POST",
      path: "/api/login",
      body: { key: key.trim() },
    });
    setSending(false);
    // The connection starts again as the new principal.
    if (result.ok) window.location.assign("/");
    else setError(result.error);
  };
  return (
    <main className="shell-sign-in">
      <form className="shell-card" onSubmit={(event) => void submit(event)}>
        <BridgeMark />
        <h1>Sign in to Spanline</h1>
        <p>
          Paste a key of this bridge, or open the link that <code>spanline up</code> prints.
        </p>
        <label htmlFor="key">Key</label>
        <input
          id="key"
          type="password"
          autoComplete="current-password"
          required
          value={key}
          aria-describedby="key-error"
          aria-invalid={error !== null}
          onChange={({ target }) => setKey(target.value)}
        />
        <p id="key-error" className="shell-error" role="alert">
          {error !== null && [error.message, error.hint].filter(Boolean).join(". ")}
        </p>
        <button
          type="submit"
          className="shell-button shell-button-main"
          disabled={isSending || key.trim() === ""}
        >
          {isSending ? "Signing in …" : "Sign in"}
        </button>
      </form>
    </main>
  );
}
