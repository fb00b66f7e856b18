/** One story for each kind of run. */
import { agentStories } from './stories/agents.ts';
import { controlStories } from './stories/control.ts';
import { endStories } from './stories/ends.ts';
import { familyStories } from './stories/families.ts';
import { forkStories } from './stories/forks.ts';
import { peerStories } from './stories/peers.ts';
import { peopleStories } from './stories/people.ts';
import { taskStories } from './stories/tasks.ts';
import type { Story } from './story.ts';

export const stories: readonly Story[] = [
  ...controlStories,
  ...peopleStories,
  ...endStories,
  ...familyStories,
  ...agentStories,
  ...forkStories,
  ...taskStories,
  ...peerStories,
];
