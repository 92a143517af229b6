/** The facts about the machine that a test needs. */

/** The factor by which programs start slower here: set for emulated processors. A child's time limit grows with it. */
export const slower = Number(process.env.PI_TEST_SLOWER ?? 1);

/** The reason if memory figures are meaningless here. */
export const noMemoryFigures = slower > 1 && "the memory is the emulator's, too";
