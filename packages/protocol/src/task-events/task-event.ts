/** The union of all task events. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { datasetWrite, dataWrite, fileWrite } from './artifacts.ts';
import { authCompleted, authRequired } from './auth.ts';
import { contentComplete, contentDelta } from './content.ts';
import { inputForwarded, inputReceived, inputRequired } from './input.ts';
import { internalCheckpoint, internalModelCall, internalThought } from './internal.ts';
import { taskComplete, taskCreated, taskStatusEvent } from './lifecycle.ts';
import { errorEvent, llmUsage } from './problems.ts';
import { subtaskCreated } from './subtasks.ts';
import { thoughtStream } from './thoughts.ts';
import { toolComplete, toolProgress, toolStart } from './tools.ts';

/** Validates an event of a known kind. A client gets unknown kinds too, and ignores them. */
export const taskEvent = z
  .discriminatedUnion('kind', [
    taskCreated,
    taskStatusEvent,
    taskComplete,
    contentDelta,
    contentComplete,
    toolStart,
    toolProgress,
    toolComplete,
    inputRequired,
    inputReceived,
    inputForwarded,
    authRequired,
    authCompleted,
    fileWrite,
    dataWrite,
    datasetWrite,
    subtaskCreated,
    thoughtStream,
    errorEvent,
    llmUsage,
    internalThought,
    internalModelCall,
    internalCheckpoint,
  ])
  .meta({ id: 'TaskEvent' });

export type TaskEvent = DataOf<typeof taskEvent>;

/** The task event of a kind. */
export type TaskEventOf<Kind extends TaskEvent['kind']> = Extract<TaskEvent, { readonly kind: Kind }>;
