import type { ReactNode } from "react";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import { Link } from "../shell/navigation.tsx";
import { formatSessionPath } from "../shell/route.ts";

/** A link to the session of a worker. The name of the worker is for screen readers. */
export function WorkerLink({
  sessionId,
  name,
  children,
}: {
  readonly sessionId: string;
  readonly name: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <Link to={formatSessionPath(sessionId)} className="part-text-button">
      {children}
      <span className="part-hidden">
        {" "}
        the session of the worker <UntrustedText text={name} />
      </span>
    </Link>
  );
}
