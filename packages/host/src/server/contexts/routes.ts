/** The routes of conversations: messages in, task events out, tasks, answers. */
import type { Route } from '../http/routes.ts';
import { type ContextEventSurface, contextEventRoutes } from './context-events.ts';
import { type ForkContextSurface, forkContextRoutes } from './fork-context.ts';
import { type InputSurface, inputRoutes } from './inputs.ts';
import { type MessageSurface, messageRoutes } from './messages.ts';
import { type TaskSurface, taskRoutes } from './tasks.ts';
import { toolCancelRoutes } from './tool-cancels.ts';

export interface ContextSurface
  extends MessageSurface,
    ContextEventSurface,
    TaskSurface,
    InputSurface,
    ForkContextSurface {}

export const contextRoutes = (surface: ContextSurface): readonly Route[] => [
  ...messageRoutes(surface),
  ...contextEventRoutes(surface),
  ...taskRoutes(surface),
  ...inputRoutes(surface),
  ...toolCancelRoutes(surface),
  ...forkContextRoutes(surface),
];
