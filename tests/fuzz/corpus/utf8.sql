SELECT 'é漢😀' AS `ключ`, U&'\0041' FROM `表`; --  ��
