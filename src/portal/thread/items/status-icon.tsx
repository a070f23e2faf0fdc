import type { ReactNode } from "react";
import { Spinner } from "../../parts/badge.tsx";
import { Icon, type IconName } from "../../parts/icons.tsx";
import type { ToolStatus } from "../describe-tool.ts";

/** Decorative: the label of the status is text. */
export function StatusIcon({ status }: { readonly status: ToolStatus }): ReactNode {
  if (status.isBusy) return <Spinner />;
  return (
    <span className={`thread-status part-tone-${status.tone}`}>
      <Icon name={STATUS_ICONS[status.tone]} />
    </span>
  );
}

const STATUS_ICONS: { readonly [Tone in ToolStatus["tone"]]: IconName } = {
  good: "check",
  danger: "cross",
  warning: "warning",
  accent: "tool",
  neutral: "empty",
};
