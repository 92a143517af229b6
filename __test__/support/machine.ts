/** What a test has to know of the machine that it runs on. */

/** How many times slower programs start here: set for emulated processors. What a child has to reach a limit in grows with it. */
export const slower = Number(process.env.PI_TEST_SLOWER ?? 1);

/** Why figures of memory say nothing here, if they do not. */
export const noMemoryFigures = slower > 1 && "the memory is the emulator's, too";
