/**
 * The abbreviations of time zones, such as EST and EDT, from the tz database (public
 * domain, 2025). `Intl` has them for some languages only, so they are listed here. A
 * zone that is not listed uses its offset, as in the tz database.
 */

/** An abbreviation with its offset in minutes, the same for summer time, and the zones that use them, by area. */
const rows: readonly (readonly string[])[] = [
  ["ACST 570, ACDT 630", "Australia: Adelaide Broken_Hill Darwin"],
  ["AEST 600, AEDT 660", "Antarctica: Macquarie", "Australia: Brisbane Hobart Lindeman Melbourne Sydney"],
  ["AKST -540, AKDT -480", "America: Anchorage Juneau Metlakatla Nome Sitka Yakutat", "US: Alaska"],
  [
    "AST -240, ADT -180",
    "America: Anguilla Antigua Aruba Barbados Blanc-Sablon Curacao Dominica Glace_Bay Goose_Bay Grenada",
    "America: Guadeloupe Halifax Kralendijk Lower_Princes Marigot Martinique Moncton Montserrat",
    "America: Port_of_Spain Puerto_Rico Santo_Domingo St_Barthelemy St_Kitts St_Lucia St_Thomas",
    "America: St_Vincent Thule Tortola",
    "Atlantic: Bermuda",
  ],
  ["AWST 480", "Australia: Perth"],
  [
    "CAT 120",
    "Africa: Blantyre Bujumbura Gaborone Harare Juba Khartoum Kigali Lubumbashi Lusaka Maputo Windhoek",
  ],
  [
    "CET 60, CEST 120",
    "Africa: Algiers Ceuta Tunis",
    "Arctic: Longyearbyen",
    "Europe: Amsterdam Andorra Belgrade Berlin Bratislava Brussels Budapest Busingen Copenhagen",
    "Europe: Gibraltar Ljubljana Luxembourg Madrid Malta Monaco Oslo Paris Podgorica Prague Rome",
    "Europe: San_Marino Sarajevo Skopje Stockholm Tirane Vaduz Vatican Vienna Warsaw Zagreb Zurich",
  ],
  ["CST -300, CDT -240", "America: Havana"],
  [
    "CST -360, CDT -300",
    "America: Bahia_Banderas Belize Chicago Chihuahua Costa_Rica El_Salvador Guatemala Indiana/Knox",
    "America: Indiana/Tell_City Managua Matamoros Menominee Merida Mexico_City Monterrey",
    "America: North_Dakota/Beulah North_Dakota/Center North_Dakota/New_Salem Ojinaga Rankin_Inlet",
    "America: Regina Resolute Swift_Current Tegucigalpa Winnipeg",
    "US: Central",
  ],
  ["CST 480", "Asia: Macau Shanghai Taipei"],
  ["ChST 600", "Pacific: Guam Saipan"],
  [
    "EAT 180",
    "Africa: Addis_Ababa Asmara Asmera Dar_es_Salaam Djibouti Kampala Mogadishu Nairobi",
    "Indian: Antananarivo Comoro Mayotte",
  ],
  [
    "EET 120, EEST 180",
    "Africa: Cairo Tripoli",
    "Asia: Beirut Famagusta Gaza Hebron Nicosia",
    "Europe: Athens Bucharest Chisinau Helsinki Kaliningrad Kiev Kyiv Mariehamn Riga Sofia Tallinn",
    "Europe: Vilnius",
  ],
  [
    "EST -300, EDT -240",
    "America: Atikokan Cancun Cayman Coral_Harbour Detroit Grand_Turk Indiana/Indianapolis",
    "America: Indiana/Marengo Indiana/Petersburg Indiana/Vevay Indiana/Vincennes Indiana/Winamac",
    "America: Indianapolis Iqaluit Jamaica Kentucky/Louisville Kentucky/Monticello Louisville Nassau",
    "America: New_York Panama Port-au-Prince Toronto",
    "US: Eastern",
  ],
  [
    "GMT 0",
    ": GMT",
    "Africa: Abidjan Accra Bamako Banjul Bissau Conakry Dakar Freetown Lome Monrovia Nouakchott",
    "Africa: Ouagadougou Sao_Tome",
    "America: Danmarkshavn",
    "Atlantic: Reykjavik St_Helena",
  ],
  ["GMT 0, BST 60", "Europe: Guernsey Isle_of_Man Jersey London"],
  ["GMT 0, IST 60", "Europe: Dublin"],
  ["HKT 480", "Asia: Hong_Kong"],
  ["HST -600, HDT -540", "America: Adak", "Pacific: Honolulu", "US: Hawaii"],
  ["IST 120, IDT 180", "Asia: Jerusalem"],
  ["IST 330", "Asia: Calcutta Kolkata"],
  ["JST 540", "Asia: Tokyo"],
  ["KST 540", "Asia: Pyongyang Seoul"],
  ["MSK 180", "Europe: Kirov Moscow Simferopol Volgograd"],
  [
    "MST -420, MDT -360",
    "America: Boise Cambridge_Bay Ciudad_Juarez Creston Dawson Dawson_Creek Denver Edmonton Fort_Nelson",
    "America: Hermosillo Inuvik Mazatlan Phoenix Whitehorse",
    "US: Arizona Mountain",
  ],
  ["NST -210, NDT -150", "America: St_Johns"],
  ["NZST 720, NZDT 780", "Antarctica: McMurdo", "Pacific: Auckland"],
  ["PKT 300", "Asia: Karachi"],
  ["PST -480, PDT -420", "America: Los_Angeles Tijuana Vancouver", "US: Pacific"],
  ["PST 480", "Asia: Manila"],
  ["SAST 120", "Africa: Johannesburg Maseru Mbabane"],
  ["SST -660", "Pacific: Midway Pago_Pago"],
  ["UTC 0", ": UTC"],
  [
    "WAT 60",
    "Africa: Bangui Brazzaville Douala Kinshasa Lagos Libreville Luanda Malabo Ndjamena Niamey",
    "Africa: Porto-Novo",
  ],
  ["WET 0, WEST 60", "Atlantic: Canary Faeroe Faroe Madeira", "Europe: Lisbon"],
  ["WIB 420", "Asia: Jakarta Pontianak"],
  ["WIT 540", "Asia: Jayapura"],
  ["WITA 480", "Asia: Makassar"],
];

type Abbreviations = ReadonlyMap<number, string>;

let byZone: ReadonlyMap<string, Abbreviations> | undefined;

/** Parsed when the first zone is used: most programs use none. */
function readRows(): ReadonlyMap<string, Abbreviations> {
  const zones = new Map<string, Abbreviations>();
  for (const [names, ...areas] of rows) {
    const byOffset = new Map<number, string>();
    for (const name of names!.split(", ")) {
      const [abbreviation, minutes] = name.split(" ");
      byOffset.set(Number(minutes) * 60, abbreviation!);
    }
    for (const line of areas) {
      const [area, ...cities] = line.split(" ");
      for (const city of cities) zones.set(area === ":" ? city : `${area!.slice(0, -1)}/${city}`, byOffset);
    }
  }
  return zones;
}

/** The abbreviations of the zone `zone`, by offset in seconds; `undefined` if it uses its offset. */
export function zoneAbbreviations(zone: string): Abbreviations | undefined {
  byZone ??= readRows();
  return byZone.get(zone);
}
