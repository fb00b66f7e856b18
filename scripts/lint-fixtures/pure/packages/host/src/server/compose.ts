export const clock = { now: () => Date.now(), random: () => Math.random() };
