import type { ReactNode } from "react";
import { Icon } from "../../parts/icons.tsx";
import { useNow } from "../../parts/time.tsx";
import { formatCountdown } from "./countdown.ts";
import type { RequestDetails } from "./open-request.ts";

/** The remaining time, with the outcome at the deadline. Screen readers do not announce each change. */
export function CountdownLabel({
  request,
  timeOffset = 0,
}: {
  readonly request: RequestDetails;
  /** Milliseconds by which the server's clock is ahead of the browser's clock. */
  readonly timeOffset?: number;
}): ReactNode {
  const { text, urgency } = formatCountdown(request, useNow() + timeOffset);
  return (
    <span className="request-countdown" data-urgency={urgency}>
      <Icon name="clock" />
      {text}
    </span>
  );
}
