import { useState, type ReactNode } from "react";
import { formatPathTarget, type PathFact } from "../../../domain/policy/policy-decision.ts";
import { Badge } from "../../parts/badge.tsx";
import { DiffView } from "../../parts/diff/diff-view.tsx";
import { Fold, LongText } from "../../parts/fold.tsx";
import { Icon } from "../../parts/icons.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { Link } from "../../shell/navigation.tsx";
import { formatWorkerName } from "../../../domain/workers/worker.ts";
import { formatSessionPath } from "../../shell/route.ts";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import {
  describeConsequence,
  describePathLocation,
  describeRule,
  describeRepeats,
  describeVotes,
  listLabels,
  listWarnings,
} from "./describe-request.ts";
import { getCommand, type OpenRequest, type RequestDetails } from "./open-request.ts";

/** The facts for a decision: the warnings, the command, changes or arguments, and the reasons of the request. */
export function RequestFacts({
  open,
  isBrief = false,
}: {
  readonly open: OpenRequest;
  /** Leaves out the arguments and diffs, which the card around shows. */
  readonly isBrief?: boolean;
}): ReactNode {
  const { request } = open;
  return (
    <div className="request-facts">
      <RequestWarnings request={request} />
      {!isBrief && <RequestSubject request={request} />}
      <RequestReasons open={open} />
    </div>
  );
}

function RequestWarnings({ request }: { readonly request: RequestDetails }): ReactNode {
  const consequence = describeConsequence(request);
  const { prompt, risk } = request.decision?.approval ?? {};
  const warnings = listWarnings(request);
  return (
    <>
      {consequence !== undefined && <p className="request-consequence">{consequence}</p>}
      {prompt !== undefined && (
        <p className="request-prompt">
          <UntrustedText text={prompt} kind="prose" />
        </p>
      )}
      {(risk !== undefined || warnings.length > 0) && (
        <div className="request-risk">
          <Icon name="warning" />
          <div>
            {risk !== undefined && (
              <p>
                <strong>Risk:</strong> <UntrustedText text={risk} kind="prose" />
              </p>
            )}
            {warnings.map((warning) => (
              <p key={warning}>
                <UntrustedText text={warning} />
              </p>
            ))}
          </div>
        </div>
      )}
    </>
  );
}

/** The command, the changes of files, or the arguments. */
function RequestSubject({ request }: { readonly request: RequestDetails }): ReactNode {
  const { input, diffs = [], form } = request;
  const command = getCommand(request);
  const [isOpen, setOpen] = useState(command === undefined && diffs.length === 0);
  if (form !== undefined || input === null)
    return diffs.map((diff) => <DiffView key={diff.path} diff={diff} isPlanned />);
  return (
    <>
      {command !== undefined && (
        <div className="request-command">
          <span className="request-command-sign" aria-hidden="true">
            $
          </span>
          <LongText text={command} label="Command" maxLines={20} />
        </div>
      )}
      {diffs.map((diff) => (
        <DiffView key={diff.path} diff={diff} isPlanned />
      ))}
      {Object.keys(input).length > 0 && (
        <Fold summary="All arguments" isOpen={isOpen} onToggle={setOpen}>
          <JsonView value={input} label="Arguments" />
        </Fold>
      )}
    </>
  );
}

function RequestReasons({ open }: { readonly open: OpenRequest }): ReactNode {
  const { request } = open;
  const { decision, worker } = request;
  const votes = describeVotes(open);
  const labels = listLabels(request);
  const repeats = describeRepeats(request);
  const metadata = decision?.approval?.metadata;
  const hasRule = decision !== undefined && request.form === undefined;
  return (
    <dl className="request-reasons">
      {worker !== undefined && (
        <Fact name="Worker">
          <Link to={formatSessionPath(worker.sessionId)}>
            <UntrustedText text={formatWorkerName(worker)} />
          </Link>
        </Fact>
      )}
      {decision !== undefined && decision.context.paths.length > 0 && (
        <Fact name="Paths">
          <PathList paths={decision.context.paths} />
        </Fact>
      )}
      {hasRule && (
        <Fact name="Why">
          <UntrustedText text={decision.reason} kind="prose" />{" "}
          {decision.rule !== null && isAboutTool(request) && (
            <span className="request-rule">
              <UntrustedText text={describeRule(decision.rule)} />
            </span>
          )}
        </Fact>
      )}
      {repeats !== undefined && <Fact name="Repeats">{repeats}</Fact>}
      {labels.length > 0 && (
        <Fact name="Labels">
          <span className="request-labels">
            {labels.map((label) => (
              <Badge key={label}>
                <UntrustedText text={label} />
              </Badge>
            ))}
          </span>
        </Fact>
      )}
      {votes !== undefined && (
        <Fact name="Approvals">
          <UntrustedText text={votes} />
        </Fact>
      )}
      {metadata !== undefined && (
        <Fact name="Metadata">
          <JsonView value={metadata} label="Metadata of the rule" />
        </Fact>
      )}
      <EvidenceFacts request={request} />
    </dl>
  );
}

function EvidenceFacts({ request }: { readonly request: RequestDetails }): ReactNode {
  const { evidence = [] } = request;
  return evidence.map(({ kind, ref, metadata }) => (
    <Fact key={`${kind} ${ref}`} name={`Evidence: ${kind}`}>
      <UntrustedText text={ref} />
      {Object.keys(metadata).length > 0 && <JsonView value={metadata} label={`Evidence ${kind}`} />}
    </Fact>
  ));
}

function isAboutTool({ question }: RequestDetails): boolean {
  return question !== "budget" && question !== "lost-invocation";
}

function Fact({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div className="request-fact">
      <dt>
        <UntrustedText text={name} />
      </dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Further paths are counted only. The arguments contain all paths. */
const MAX_PATHS = 12;

function PathList({ paths }: { readonly paths: readonly PathFact[] }): ReactNode {
  const rest = paths.length - MAX_PATHS;
  return (
    <ul className="request-paths">
      {paths.slice(0, MAX_PATHS).map((fact) => (
        <li key={fact.argument}>
          <code>
            <UntrustedText text={formatPathTarget(fact)} />
          </code>
          {fact.location !== "inside" && (
            <Badge tone="danger">
              <UntrustedText text={describePathLocation(fact)} />
            </Badge>
          )}
          {fact.location === "inside" && fact.folder !== undefined && (
            <Badge>
              in <UntrustedText text={fact.folder} />
            </Badge>
          )}
        </li>
      ))}
      {rest > 0 && <li>and {rest} more</li>}
    </ul>
  );
}
