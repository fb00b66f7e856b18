/** An entry of the run list: shaped like a snapshot, without the fields that need a fold of the events. */
import type { JsonObject } from '@cairn/protocol';
import type { ListedRun } from '../../log/ports/run-index.ts';

export function listedRun(record: ListedRun, childCount = 0): JsonObject {
  const { runId, workflowId, tenant, principal, currentNodeId, endedAt, errorCode, tags, parentRunId, summary } =
    record;
  const { title, agents, waitingOn, inputTokens, outputTokens, costUsd } = summary;
  return {
    runId,
    contextId: record.contextId,
    workflowId,
    status: record.shownStatus,
    owner: { tenant, ...(principal === null ? {} : { principal }) },
    startedAt: new Date(record.createdAt).toISOString(),
    ...(endedAt === null ? {} : { completedAt: new Date(endedAt).toISOString() }),
    ...(currentNodeId === null ? {} : { currentNodeId }),
    ...(errorCode === null ? {} : { error: { code: errorCode, message: record.errorMessage ?? errorCode } }),
    ...(parentRunId === null ? {} : { parentRunId }),
    ...(record.fork === null ? {} : { fork: { ...record.fork } }),
    ...(record.importedAt === null ? {} : { importedAt: new Date(record.importedAt).toISOString() }),
    tags,
    summary: {
      ...(title === null ? {} : { title }),
      agents,
      ...(waitingOn === null ? {} : { waitingOn }),
      tokens: { input: inputTokens, output: outputTokens },
      usd: costUsd,
      ...(childCount === 0 ? {} : { childCount }),
    },
  };
}
