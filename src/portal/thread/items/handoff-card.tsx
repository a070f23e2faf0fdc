import type { ReactNode } from "react";
import { formatHandoff } from "../../../domain/outputs/handoff.ts";
import { Fold } from "../../parts/fold.tsx";
import { Icon } from "../../parts/icons.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";
import type { HandoffItem } from "../../state/session-view.ts";
import { useOpenCard } from "../thread-context.tsx";

/** Work which the agent handed over, with all fields folded. */
export function HandoffCard({ item }: { readonly item: HandoffItem }): ReactNode {
  const [isOpen, setOpen] = useOpenCard(item.key, false);
  const { _type: _, kind: __, ...fields } = item.handoff;
  return (
    <div className="thread-notice">
      <Fold
        isOpen={isOpen}
        onToggle={setOpen}
        summary={
          <>
            <Icon name="info" />
            <span>
              <VisibleText text={formatHandoff(item.handoff).slice(0, 400)} />
            </span>
          </>
        }
      >
        <JsonView value={fields} label="Handoff" />
      </Fold>
    </div>
  );
}
