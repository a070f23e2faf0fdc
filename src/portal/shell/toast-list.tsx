import type { ReactNode } from "react";
import { useServices, useStore } from "./services.tsx";
import { ShellIcon } from "./shell-icon.tsx";

/** Errors of commands, while the errors hold and are not dismissed. */
export function ToastList(): ReactNode {
  const { toasts } = useServices();
  const errors = useStore(toasts.store);
  return (
    <div className="shell-toasts" role="alert">
      {errors.map(({ key, text, error }) => (
        <div key={key} className="shell-toast">
          <div>
            <strong>{text}</strong>
            <p>{error.message}</p>
            {error.hint !== undefined && <p className="shell-muted">{error.hint}</p>}
          </div>
          <button
            type="button"
            className="shell-icon-button"
            aria-label="Dismiss"
            onClick={() => toasts.dismiss(key)}
          >
            <ShellIcon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
