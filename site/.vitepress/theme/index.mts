/** The default theme of VitePress with the fonts of the system, and our colours. */

import theme from "vitepress/theme-without-fonts";
import "./style.css";

export default theme;
